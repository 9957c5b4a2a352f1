import type { ArmResult, Comparison, ExperimentResult } from '../../measure/result.ts';
import { type Content, html } from '../page/markup.ts';
import { describeUndecidable } from './decision.ts';
import { estimate, formatProbability, formatSigned } from './format.ts';
import { countConversations, describeUnresolved, listUnresolved } from './legend.ts';
import { renderPlainTable } from './plain-table.ts';

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
export function describeSurvivals({ structure }: ArmResult, metrics: readonly string[]): string[] {
  if (structure === null) return [];
  return structure.survives.map((kind) => {
    const where = metrics.filter((metric) => structure.metrics[metric]?.survives.includes(kind));
    return where.length === metrics.length ? kind : `${kind} (${where.join(', ')})`;
  });
}

function formatControlCell({ difference, correctedP }: Comparison, bound: number, survives: boolean): string {
  return `${estimate(difference, formatSigned, 2)}, p ${formatProbability(correctedP, bound)}${survives ? ', survives' : ''}`;
}

/** A row for each arm and control of it. */
export function listStructureRows({ arms, metrics, statistics }: ExperimentResult): StructureRow[] {
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
        const text = formatControlCell(comparison, 1 - statistics.level, test.survives.includes(control));
        return { difference: comparison.difference.mean, text };
      }),
    }));
  });
}

/** The arms against their null controls; sorts by every column. */
export function renderStructureTable(result: ExperimentResult): Content {
  return renderPlainTable({
    label: 'null controls',
    headings: [
      { name: 'arm', numeric: false },
      { name: 'control', numeric: false },
      ...result.metrics.map((name) => ({ name, numeric: true })),
    ],
    rows: listStructureRows(result).map(({ arm, control, cells }) => ({
      arm,
      cells: [{ text: arm }, { text: control }, ...cells.map(({ difference, text }) => ({ text, value: difference }))],
    })),
  });
}

/** Comparisons of the table that conversations and samples leave undecided; empty without any. */
export function describeStructureReach({ arms, metrics, statistics, queries }: ExperimentResult): string[] {
  const listControlKinds = ({ structure }: ArmResult) =>
    Object.keys(structure?.metrics[metrics[0] as string]?.controls ?? {});
  const counts = [...new Set(arms.map((arm) => listControlKinds(arm).length))].sort((a, b) => a - b);
  const differences = arms.flatMap((arm) =>
    listControlKinds(arm).map((kind) => ({
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
    ...counts.flatMap((count) =>
      describeUndecidable(statistics, countConversations(queries), count, 'comparisons with null controls'),
    ),
    ...describeUnresolved(listUnresolved(differences, metrics), statistics),
  ];
}

/** The text above the table. */
export function renderStructureLegend(result: ExperimentResult): Content {
  const { baseline, failures } = result;
  const failed = failures.some(({ name }) => name === baseline);
  return html`
<p class="legend">Arms minus their null controls, each an arm of the same options on structure that was destroyed at random; p corrected over the controls of an arm. ${SURVIVES} The baseline is ${baseline}${failed ? ', which failed' : ''}. ${describeStructureReach(result).join(' ')}</p>`;
}
