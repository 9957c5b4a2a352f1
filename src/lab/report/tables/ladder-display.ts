import { attachDisplay, type MimeBundle } from '../../../core/display/display.ts';
import { buildTableBundle, type ShownRow } from '../../../core/display/display-table.ts';
import { type ShowableText, stateShown } from '../../../core/display/showable-text.ts';
import { escapeHtml } from '../../../core/text/escapes.ts';

/** The part of a ladder that is shown. */
interface ShownLadder {
  readonly baseline: string;
  readonly compared: boolean;
  readonly rows: readonly {
    readonly arm: string;
    readonly isBaseline: boolean;
    readonly cells: readonly {
      readonly metric: string;
      readonly value: string;
      readonly interval: string;
      readonly mark: string;
      readonly comparison: { readonly difference: string; readonly p: string } | null;
    }[];
  }[];
  readonly absent: readonly { readonly arm: string; readonly kind: string; readonly reason: string }[];
  readonly decision: readonly string[];
  readonly legend: readonly string[];
}

/** The first metric has the difference from the baseline and its p beside it, as in a terminal. */
function listShownCells({ arm, isBaseline, cells }: ShownLadder['rows'][number], compared: boolean): ShownRow {
  const columns = cells.flatMap(({ metric, value, interval, mark, comparison }, at) => {
    const written = [value, interval, mark].filter((text) => text !== '').join(' ');
    const cell: [string, ShowableText] = [metric, stateShown(written)];
    if (at > 0 || !compared) return [cell];
    return [cell, ['Δ', stateShown(comparison?.difference ?? '—')], ['p', stateShown(comparison?.p ?? '—')]];
  });
  return { arm: stateShown(isBaseline ? `${arm} (baseline)` : arm), ...Object.fromEntries(columns) };
}

/** A ladder of arms for a notebook, with what it decides and its legend below. */
export function buildLadderBundle({ rows, absent, compared, decision, legend }: ShownLadder): MimeBundle {
  const shown = rows.map((row) => listShownCells(row, compared));
  const failed = absent.map(({ arm, kind, reason }) => ({ arm: stateShown(`${arm}: ${kind}, ${reason}`) }));
  const table = buildTableBundle([...shown, ...failed], { limit: 200 });
  const sentences = [...decision, ...legend];
  const notes = sentences.map((sentence) => `<br>${escapeHtml(sentence)}`).join('');
  return {
    'text/plain': [table['text/plain'], ...sentences].join('\n'),
    'text/html': `${table['text/html']}\n<p>${notes.replace('<br>', '')}</p>`,
  };
}

/** Lets a notebook show a ladder. @returns the same object. */
export function displayLadder<T extends ShownLadder>(table: T): T {
  return attachDisplay(table, buildLadderBundle);
}
