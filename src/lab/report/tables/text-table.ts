import { type ExperimentResult, type Fitted, isFitted } from '../../measure/result.ts';
import { buildUsersLadder, describeTransfers, describeUsers, listTransferRows, searchSentences } from './fit-table.ts';
import { wrapText } from './plain-table.ts';
import { buildLadderTable, type LadderRow, type LadderTable } from './table.ts';

/** A column as it is printed: its heading and one text a row, all of one width. */
type Column = readonly string[];

/**
 * The ladder for a terminal: every metric with its interval, the first one also with its difference from the baseline and the corrected p. Columns that
 * do not fit into `width` follow in a further block under the same arm names.
 */
export function renderText(result: ExperimentResult, width = 120): string {
  const ladder = formatLadder(buildLadderTable(result), width);
  return isFitted(result) ? `${ladder}\n${formatFitText(result, width).join('\n\n')}\n` : ladder;
}

/** A ladder as {@link renderText} prints it. */
export function formatLadder(table: LadderTable, width = 120): string {
  const arms = alignTexts(['arm', ...table.rows.map((row) => row.arm)], 'left');
  const blocks = wrapColumnGroups(groupTableColumns(table), width - (arms[0] as string).length);
  const printed = blocks.map((columns) => joinColumns([arms, ...columns]).join('\n'));
  const notes = table.notes.length === 0 ? [] : [table.notes.join('\n')];
  const decision =
    table.decision.length === 0 ? [] : [table.decision.flatMap((sentence) => wrapText(sentence, width)).join('\n')];
  return `${[...printed, ...decision, table.legend.join('\n'), ...notes].join('\n\n')}\n`;
}

/** Columns that stay together: a metric, and for the first one what compares it with the baseline. */
function groupTableColumns(table: LadderTable): Column[][] {
  return table.metrics.map((metric, at) => {
    const value = buildMetricColumn(metric, table.rows, at);
    return at === 0 && table.compared ? [value, ...buildComparisonColumns(table.rows)] : [value];
  });
}

function buildMetricColumn(metric: string, rows: readonly LadderRow[], at: number): Column {
  const cells = rows.map((row) => row.cells[at] as LadderRow['cells'][number]);
  const intervals = alignTexts(
    cells.map((cell) => cell.interval),
    'left',
  );
  const values = alignTexts(
    cells.map((cell) => cell.value),
    'right',
  );
  return alignTexts(
    [metric, ...cells.map((cell, row) => `${values[row]} ${intervals[row]} ${cell.mark || ' '}`)],
    'left',
  );
}

function buildComparisonColumns(rows: readonly LadderRow[]): Column[] {
  const first = rows.map((row) => row.cells[0]?.comparison);
  return [
    alignTexts(['Δ', ...first.map((comparison) => comparison?.difference ?? '—')], 'right'),
    alignTexts(['p', ...first.map((comparison) => comparison?.p ?? '—')], 'right'),
  ];
}

function wrapColumnGroups(groups: readonly Column[][], room: number): Column[][] {
  const blocks: Column[][] = [];
  let left = 0;
  for (const group of groups) {
    const needed = group.reduce((sum, column) => sum + (column[0] as string).length + 2, 0);
    if (blocks.length === 0 || needed > left) {
      blocks.push([]);
      left = room;
    }
    blocks.at(-1)?.push(...group);
    left -= needed;
  }
  return blocks;
}

function joinColumns(columns: readonly Column[]): string[] {
  const lines = (columns[0] as Column).map((_, row) => columns.map((column) => column[row]).join('  '));
  const rule = '─'.repeat(Math.max(...lines.map((line) => line.length)));
  return [lines[0] as string, rule, ...lines.slice(1)].map((line) => line.trimEnd());
}

function alignTexts(texts: readonly string[], side: 'left' | 'right'): string[] {
  const width = Math.max(...texts.map((text) => text.length));
  return texts.map((text) => (side === 'left' ? text.padEnd(width) : text.padStart(width)));
}

/** Rows with the heading first as lines, a rule below the heading, every column as wide as it must be. */
export function alignLines(rows: readonly (readonly string[])[]): string[] {
  const [heading = []] = rows;
  return joinColumns(
    heading.map((_, at) =>
      alignTexts(
        rows.map((row) => row[at] ?? ''),
        'left',
      ),
    ),
  );
}

/** Parts below the table of arms in a terminal: searches, users, other data, remarks. */
function formatFitText(result: Fitted, width: number): string[] {
  const { fit, users, baseline, remarks } = result;
  const ofUsers =
    users === undefined
      ? []
      : [`Users\n\n${formatLadder(buildUsersLadder(result, users), width)}\n${describeUsers(users)}`];
  const transfer =
    fit.transfer.length === 0
      ? []
      : [[...alignLines(listTransferRows(result)), ...describeTransfers(result)].join('\n')];
  return [searchSentences(fit, baseline).join('\n'), ...ofUsers, ...transfer, remarks.join('\n')].filter(
    (part) => part !== '',
  );
}
