import type { PlantedDependency } from '../../src/data/prepared/datasets.ts';
import { formatPipeTable, type TextTable } from '../text-table.ts';
import { MECHANISMS } from './arms.ts';
import { countNullRejections, type PlantedComparison } from './comparisons.ts';
import type { PlantedCell } from './measure.ts';
import type { PlantedTruthSettings } from './settings.ts';

const MARKS = { better: ' ▲', worse: ' ▼', undecided: '' } as const;

const formatShare = (value: number) => value.toFixed(3).replace(/^0\./, '.');
const formatDifference = (value: number) => `${value < 0 ? '−' : '+'}${formatShare(Math.abs(value))}`;

type Find = (arm: string, dependency: PlantedDependency, strength: number) => PlantedComparison;

/** `from .25` for the lowest strength from which on the verdict is the same. */
function describeReach(verdicts: readonly { readonly strength: number; readonly verdict: string }[]): string {
  const last = verdicts.at(-1);
  if (last === undefined || last.verdict === 'undecided') return 'does not';
  const first = verdicts.findLastIndex(({ verdict }) => verdict !== last.verdict) + 1;
  const word = last.verdict === 'better' ? 'recovers' : 'hurts';
  return `${word} from ${String(verdicts[first]?.strength).replace(/^0\./, '.')}`;
}

/** Which arm recovers which dependency, and from which strength on. */
function buildVerdictTable({ dependencies, strengths }: PlantedTruthSettings, find: Find): TextTable {
  const planted = strengths.filter((strength) => strength > 0);
  return {
    head: ['mechanism', 'added to', ...dependencies],
    rows: MECHANISMS.map(({ name, base }) => [
      name,
      base,
      ...dependencies.map((dependency) => describeReach(planted.map((strength) => find(name, dependency, strength)))),
    ]),
  };
}

function formatCell({ difference, verdict }: PlantedComparison): string {
  const { mean, low, high } = difference;
  const interval = low === null ? '' : ` [${formatDifference(low)}, ${formatDifference(high)}]`;
  return `${formatDifference(mean)}${interval}${MARKS[verdict]}`;
}

/** Each arm minus its base on one dependency. */
function buildDependencyTable(
  { strengths }: PlantedTruthSettings,
  dependency: PlantedDependency,
  find: Find,
): TextTable {
  return {
    head: [dependency, ...strengths.map((strength) => `strength ${strength}`)],
    rows: MECHANISMS.map(({ name }) => [
      name,
      ...strengths.map((strength) => formatCell(find(name, dependency, strength))),
    ]),
  };
}

const computeMean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What similarity alone and an observer of the dependency reach, beside what is expected of them. */
function buildLevelTable(cells: readonly PlantedCell[], compared: readonly PlantedComparison[]): TextTable {
  return {
    head: ['data', 'queries', 'bm25', 'cosine', 'chance', 'observer', 'ceiling'],
    rows: cells.map(({ dependency, strength, values, oracle, clusters }) => {
      const levels = compared.find((one) => one.dependency === dependency && one.strength === strength);
      const measured = ['bm25', 'cosine'].map((name) =>
        formatShare(computeMean(values.get(name) as readonly number[])),
      );
      return [
        `${dependency}, strength ${strength}`,
        String(clusters.length),
        ...measured,
        formatShare(levels?.chance ?? 0),
        formatShare(computeMean(oracle)),
        formatShare(levels?.ceiling ?? 0),
      ];
    }),
  };
}

function describeNull(compared: readonly PlantedComparison[], { level }: PlantedTruthSettings): string {
  const { tests, better, worse, expected } = countNullRejections(compared, level);
  if (tests === 0) return 'No null control: the strengths do not include 0.';
  const bound = formatShare(1 - level).replace(/0+$/, '');
  return `Null control: at strength 0, ${better} of ${tests} tests find an arm better and ${worse} worse at p < ${bound}, uncorrected; ${expected.toFixed(1)} of each are expected if no arm differs.`;
}

/** Tables and sentences, Markdown each. */
export function buildPlantedSections(
  cells: readonly PlantedCell[],
  compared: readonly PlantedComparison[],
  settings: PlantedTruthSettings,
): string[] {
  const find: Find = (arm, dependency, strength) =>
    compared.find(
      (one) => one.arm === arm && one.dependency === dependency && one.strength === strength,
    ) as PlantedComparison;
  const tests = compared.filter(({ strength }) => strength > 0).length;
  return [
    '### Which mechanism recovers which dependency',
    formatPipeTable(buildVerdictTable(settings, find)),
    `Decided by the MRR of an arm minus that of its base: corrected p below the level at this strength and all greater ones (clustered sign-flip test, Holm over ${tests} tests). Weights are tuned on dev.`,
    describeNull(compared, settings),
    '### Differences in MRR',
    ...settings.dependencies.map((dependency) => formatPipeTable(buildDependencyTable(settings, dependency, find))),
    'In brackets bootstrap intervals, clustered by conversation. ▲ better and ▼ worse after correction; at strength 0 without correction.',
    '### Chance and ceiling',
    formatPipeTable(buildLevelTable(cells, compared)),
    'MRR of similarity alone beside chance, and of an observer who knows the dependency beside the ceiling, the expected value.',
  ];
}

/** A row for each comparison. */
export function formatPlantedCsv(compared: readonly PlantedComparison[]): string {
  const head =
    'dependency,strength,arm,base,queries,mrr,base_mrr,difference,low,high,p,corrected_p,verdict,chance,ceiling';
  const rows = compared.map((one) =>
    [
      one.dependency,
      one.strength,
      JSON.stringify(one.arm),
      one.base,
      one.queries,
      one.value,
      one.baseValue,
      one.difference.mean,
      one.difference.low ?? '',
      one.difference.high ?? '',
      one.p,
      one.correctedP,
      one.verdict,
      one.chance,
      one.ceiling,
    ].join(','),
  );
  return `${[head, ...rows].join('\n')}\n`;
}
