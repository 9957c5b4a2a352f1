import { type Content, html } from '../../../core/text/format.ts';
import { chooseVerdict } from '../../../eval/significance/verdict.ts';
import type { ExperimentResult, Interaction, SweepSummary } from '../../measure/result.ts';
import { describeUndecidable } from './decision.ts';
import { formatDecimal, formatInterval, formatProbability, formatSigned } from './format.ts';
import { describeIntervals, describeUnresolved, listUnresolved } from './legend.ts';
import { renderPlainTable } from './plain-table.ts';

type Statistics = ExperimentResult['statistics'];

/** The maximum number of interactions to list, the most certain first. */
const LISTED = 60;

/** Comparisons that conversations and samples leave undecided. */
function describeInteractionReach(
  interactions: readonly Interaction[],
  statistics: Statistics,
  conversations: number,
): string[] {
  const tested = interactions.filter(({ metric }) => metric === interactions[0]?.metric);
  const open = interactions.map(({ levels, metric, unresolved }) => ({
    name: levels.join(' × '),
    comparisons: { [metric]: { unresolved } },
  }));
  const metrics = [...new Set(interactions.map(({ metric }) => metric))];
  return [
    ...describeUndecidable(statistics, conversations, tested.length, 'interactions'),
    ...describeUnresolved(listUnresolved(open, metrics), statistics),
  ];
}

/** The interactions of a sweep; nothing without any. */
export function renderInteractionTable(
  { interactions }: SweepSummary,
  statistics: Statistics,
  conversations: number,
): Content {
  if (interactions.length === 0) return '';
  const { level } = statistics;
  const surest = interactions.toSorted((a, b) => a.correctedP - b.correctedP).slice(0, LISTED);
  const listed =
    interactions.length > LISTED ? `the ${LISTED} with the smallest corrected p of ${interactions.length}` : '';
  return html`
<h3>Interactions</h3>
<p class="legend">How far two levels together are from the sum of what each does alone; ${describeIntervals(conversations, level)}. * where the corrected p is below ${formatDecimal(1 - level, 2)}${listed && `; ${listed}`}. ${describeInteractionReach(interactions, statistics, conversations).join(' ')}</p>
<div class="bounded">${renderPlainTable({
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
    rows: surest.map((interaction) => ({ cells: formatInteractionCells(interaction, level) })),
  })}</div>`;
}

function formatInteractionCells(
  { factors, levels, metric, effect, p, correctedP, unresolved }: Interaction,
  level: number,
) {
  const decided = chooseVerdict(effect.mean, { correctedP, unresolved }, level) !== 'undecided';
  return [
    { text: factors.join(' × ') },
    { text: levels.join(' × ') },
    { text: metric },
    { text: formatSigned(effect.mean, 3), value: effect.mean },
    { text: formatInterval(effect, formatSigned, 3) },
    { text: formatProbability(p), value: p },
    { text: `${formatProbability(correctedP, 1 - level)}${decided ? ' *' : ''}`, value: correctedP },
  ];
}
