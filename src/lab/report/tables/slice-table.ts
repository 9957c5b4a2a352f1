import type { ArmResult, Inadmissible, SliceSummary } from '../../measure/result.ts';
import type { Markup } from '../page/markup.ts';
import { formatDecimal } from './format.ts';
import { type PlainCell, renderPlainTable } from './plain-table.ts';

type SlicedArm = { readonly name: string; readonly slices: SliceSummary };

/** The arms whose queries have slices. */
export function listSlicedArms(arms: readonly ArmResult[]): SlicedArm[] {
  return arms.flatMap(({ name, slices }) => (slices === undefined ? [] : [{ name, slices }]));
}

const count = (value: number): PlainCell => ({ text: String(value), value });

/** `.250`; a dash without a relevant turn. */
function share({ inadmissible, relevant }: Inadmissible): PlainCell {
  if (relevant === 0) return { text: '—' };
  return { text: formatDecimal(inadmissible / relevant, 3), value: inadmissible / relevant };
}

const words = (...names: string[]) => names.map((name) => ({ name, numeric: false }));
const numbers = (...names: string[]) => names.map((name) => ({ name, numeric: true }));

/** The policy of each arm, the size of its slices, and what they leave out. */
export function renderSliceTable(arms: readonly ArmResult[]): Markup {
  const rows = listSlicedArms(arms).map(({ name, slices }) => ({
    arm: name,
    cells: [
      ...[{ text: name }, { text: slices.policyRef }],
      ...[{ text: formatDecimal(slices.meanTurns, 1), value: slices.meanTurns }, share(slices)],
      ...[slices.unanchored, slices.refused].map(count),
    ],
  }));
  const headings = [
    ...words('arm', 'policy'),
    ...numbers('turns a query', 'inadmissible share', 'unanchored queries', 'refused queries'),
  ];
  return renderPlainTable({ label: 'slices', headings, rows });
}

/** The share of the relevant turns that was inadmissible, by level. */
export function renderSliceStrata(arms: readonly ArmResult[]): Markup {
  const rows = listSlicedArms(arms).flatMap(({ name, slices }) =>
    Object.entries(slices.strata).flatMap(([stratum, levels]) =>
      Object.entries(levels).map(([level, counts]) => ({
        arm: name,
        cells: [{ text: name }, { text: stratum }, { text: level }, count(counts.relevant), share(counts)],
      })),
    ),
  );
  const headings = [...words('arm', 'stratum', 'level'), ...numbers('relevant turns', 'inadmissible share')];
  return renderPlainTable({ label: 'inadmissible turns by stratum', headings, rows });
}

/** A sentence for each arm with slices, for a terminal. */
export function describeSlices(arms: readonly ArmResult[]): string[] {
  return listSlicedArms(arms).map(({ name, slices }) => {
    const { meanTurns, inadmissible, relevant, unanchored, refused, queries } = slices;
    return `slices of ${name}: ${formatDecimal(meanTurns, 1)} turns a query; ${inadmissible} of ${relevant} relevant turns inadmissible; of ${queries} queries ${unanchored} unanchored, ${refused} refused`;
  });
}
