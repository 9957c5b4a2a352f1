import { isSignificant } from '../evaluation/significance.ts';
import type { Interaction, SweepSummary } from '../experiment/result.ts';
import { decimal, probability, signed } from './format.ts';
import { type Content, html } from './markup.ts';
import { plainTable } from './plain-table.ts';

/** So many interactions are listed, the surest first. */
const LISTED = 60;

/** The interactions of a sweep; nothing where there are none. */
export function interactionTable({ interactions }: SweepSummary, level: number): Content {
  if (interactions.length === 0) return '';
  const surest = interactions.toSorted((a, b) => a.correctedP - b.correctedP).slice(0, LISTED);
  const listed =
    interactions.length > LISTED ? `the ${LISTED} with the smallest corrected p of ${interactions.length}` : '';
  return html`
<h3>Interactions</h3>
<p class="legend">How far two levels together are from the sum of what each does alone; ${Math.round(100 * level)} % intervals, clustered by conversation. * where the corrected p is below ${decimal(1 - level, 2)}${listed && `; ${listed}`}.</p>
<div class="bounded">${plainTable({
    label: 'interactions',
    headings: [
      { name: 'factors', numeric: false },
      { name: 'levels', numeric: false },
      { name: 'metric', numeric: false },
      { name: 'effect', numeric: true },
      { name: 'interval', numeric: false },
      { name: 'p', numeric: true, first: 'ascending' },
      { name: 'corrected p', numeric: true, first: 'ascending' },
    ],
    rows: surest.map((interaction) => ({ cells: interactionCells(interaction, level) })),
  })}</div>`;
}

function interactionCells({ factors, levels, metric, effect, p, correctedP }: Interaction, level: number) {
  return [
    { text: factors.join(' × ') },
    { text: levels.join(' × ') },
    { text: metric },
    { text: signed(effect.mean, 3), value: effect.mean },
    { text: `[${signed(effect.low, 3)}, ${signed(effect.high, 3)}]` },
    { text: probability(p), value: p },
    { text: `${probability(correctedP, 1 - level)}${isSignificant(correctedP, level) ? ' *' : ''}`, value: correctedP },
  ];
}
