import type { ArmResult, Comparison, ExperimentResult } from '../../experiment/measure/result.ts';
import { type Content, html } from '../page/markup.ts';
import { estimate, probability, signed } from './format.ts';
import { conversationCount, smallestPText, unresolvedIn, unresolvedText } from './legend.ts';
import { plainTable } from './plain-table.ts';

/** An arm minus one of its null controls, in each metric. */
interface StructureRow {
  readonly arm: string;
  readonly control: string;
  readonly cells: readonly { readonly difference: number; readonly text: string }[];
}

/** The meaning of the word in a cell. */
export const SURVIVES =
  'survives: arm and control are both better than the baseline, and the arm is not better than its control, so the gain is not due to what the control destroys.';

/** The null controls that an arm's gain survives, each with the metrics unless it is all of them. */
export function survivals({ structure }: ArmResult, metrics: readonly string[]): string[] {
  if (structure === null) return [];
  return structure.survives.map((kind) => {
    const where = metrics.filter((metric) => structure.metrics[metric]?.survives.includes(kind));
    return where.length === metrics.length ? kind : `${kind} (${where.join(', ')})`;
  });
}

function cellText({ difference, correctedP }: Comparison, bound: number, survives: boolean): string {
  return `${estimate(difference, signed, 2)}, p ${probability(correctedP, bound)}${survives ? ', survives' : ''}`;
}

/** A row for each arm and control of it. */
export function structureRows({ arms, metrics, statistics }: ExperimentResult): StructureRow[] {
  return arms.flatMap(({ name, structure }) => {
    if (structure === null) return [];
    const kinds = Object.keys(structure.metrics[metrics[0] as string]?.controls ?? {});
    return kinds.map((control) => ({
      arm: name,
      control,
      cells: metrics.flatMap((metric) => {
        const test = structure.metrics[metric];
        const comparison = test?.controls[control];
        if (test === undefined || comparison === undefined) return [];
        const text = cellText(comparison, 1 - statistics.level, test.survives.includes(control));
        return { difference: comparison.difference.mean, text };
      }),
    }));
  });
}

/** The arms against their null controls; sorts by every column. */
export function structureTable(result: ExperimentResult): Content {
  return plainTable({
    label: 'null controls',
    headings: [
      { name: 'arm', numeric: false },
      { name: 'control', numeric: false },
      ...result.metrics.map((name) => ({ name, numeric: true })),
    ],
    rows: structureRows(result).map(({ arm, control, cells }) => ({
      arm,
      cells: [{ text: arm }, { text: control }, ...cells.map(({ difference, text }) => ({ text, value: difference }))],
    })),
  });
}

/** Comparisons of the table that conversations and samples leave undecided; empty without any. */
export function structureReach({ arms, metrics, statistics, queries }: ExperimentResult): string[] {
  const kindsOf = ({ structure }: ArmResult) => Object.keys(structure?.metrics[metrics[0] as string]?.controls ?? {});
  const counts = [...new Set(arms.map((arm) => kindsOf(arm).length))].sort((a, b) => a - b);
  const differences = arms.flatMap((arm) =>
    kindsOf(arm).map((kind) => ({
      name: `${arm.name} minus ${kind}`,
      comparisons: Object.fromEntries(
        Object.entries(arm.structure?.metrics ?? {}).flatMap(([metric, { controls }]) => {
          const comparison = controls[kind];
          return comparison === undefined ? [] : [[metric, comparison]];
        }),
      ),
    })),
  );
  return [
    ...smallestPText(
      statistics,
      conversationCount(queries),
      counts.map((count) => ({ of: 'controls', count })),
    ),
    ...unresolvedText(unresolvedIn(differences, metrics), statistics),
  ];
}

/** The text above the table. */
export function structureLegend(result: ExperimentResult): Content {
  const { baseline, failures } = result;
  const failed = failures.some(({ name }) => name === baseline);
  return html`
<p class="legend">Arms minus their null controls, each an arm of the same options on structure that was destroyed at random; p corrected over the controls of an arm. ${SURVIVES} The baseline is ${baseline}${failed ? ', which failed' : ''}. ${structureReach(result).join(' ')}</p>`;
}
