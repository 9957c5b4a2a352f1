import {
  attachDisplay,
  buildTableBundle,
  joinBundles,
  type MimeBundle,
  phrase,
  type ShowableText,
  stateShown,
} from '../../core/display/display.ts';
import { formatDecimal } from '../../core/text/format.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { countUnknownTurns } from '../../data/prepared/prepared.ts';
import type { FitResult } from './fit-result.ts';
import {
  type DatasetSummary,
  type Estimate,
  type ExperimentResult,
  formatLook,
  type ProtocolWarning,
  type SeedSpread,
} from './result.ts';

/** An arm that was run with one seed or several. */
interface Repeated {
  readonly seeds?: SeedSpread | undefined;
}

/** The largest number of seeds that an arm was run with; 1 where none was repeated. */
export function countSeeds(arms: readonly { readonly seeds?: { readonly count: number } | undefined }[]): number {
  return Math.max(1, ...arms.map(({ seeds }) => seeds?.count ?? 1));
}

/** True if no seed changes a figure of an arm that has several. A deviation of equal means is 0 but for rounding. */
function isAlike({ seeds }: Repeated): boolean {
  return seeds !== undefined && Object.values(seeds.deviations).every((deviation) => deviation < 1e-12);
}

/** The names of the arms with several seeds whose figures no seed changes. */
export function listAlikeArms(arms: readonly (Repeated & { readonly name: string })[]): string[] {
  return arms.filter(isAlike).map(({ name }) => name);
}

/** The standard deviation of the seeds' means; undefined for one seed, and where no seed changes a figure of the arm. */
export function readSeedDeviation(arm: Repeated, metric: string): number | undefined {
  return isAlike(arm) ? undefined : arm.seeds?.deviations[metric];
}

/** Each mean with its interval, as `.496 [.47, .52]`. */
export function formatEstimates(metrics: Readonly<Record<string, Estimate>>): Record<string, ShowableText> {
  return Object.fromEntries(
    Object.entries(metrics).map(([metric, { mean, low, high }]) => {
      const ends = low === null || high === null ? '' : ` [${formatDecimal(low, 2)}, ${formatDecimal(high, 2)}]`;
      return [metric, stateShown(formatDecimal(mean, 3) + ends)];
    }),
  );
}

/** The arms of a result with the mean and the interval of each metric, then what was learned, for a notebook. */
export function buildResultBundle({ fit, ...result }: ExperimentResult): MimeBundle {
  const arms = buildArmsBundle(result);
  return fit === undefined ? arms : joinBundles([arms, buildNumbersBundle(fit)]);
}

function buildNumbersBundle({ numbers }: FitResult): MimeBundle {
  const rows = numbers.map(({ parameter, label, interval, ...number }) => ({
    ...{ parameter: stateShown(parameter), label: stateShown(label) },
    ...{ ...number, ...interval },
  }));
  return buildTableBundle(rows, { caption: phrase`learned numbers`, limit: 200 });
}

function buildArmsBundle({ name, baseline, arms, failures, queries, look }: ExperimentResult): MimeBundle {
  const rows = arms.map((arm) => ({
    arm: stateShown(arm.name === baseline ? `${arm.name} (baseline)` : arm.name),
    ...formatEstimates(arm.metrics),
  }));
  const failed = failures.map((failure) => ({ arm: stateShown(`${failure.name} failed: ${failure.message}`) }));
  const counted = stateShown(look === undefined ? '' : `. ${formatLook(look)}`);
  const caption = phrase`${stateShown(name)}: ${queries.length} queries${counted}`;
  return buildTableBundle([...rows, ...failed], { caption, limit: 100 });
}

/** Lets a notebook show a result as a table of its arms. @returns the same object. */
export function displayResult(result: ExperimentResult): ExperimentResult {
  return attachDisplay(result, buildResultBundle);
}

/** Every protocol error that is looked for, with one line for people. */
export const PROTOCOL_WARNINGS = freezeDeeply({
  'score-not-finite': 'a score is NaN or infinite; its line does not count',
  'repeated-document': 'a query lists a document twice; the first line counts',
  'scores-ascend': 'scores rise with the rank, as distances do',
  'rank-disagrees-with-score': 'ranks or lines are in another order than the scores, which alone count',
  'ties-out-of-order': 'equal scores are in another order than trec_eval gives them',
  'several-tags': 'one file holds several run tags',
  'shared-tag': 'several files have one run tag',
  'equal-rankings': 'two systems rank the same documents in the same order',
  'unequal-depths': 'the systems rank different numbers of documents',
  'cutoff-beyond-depth': 'a metric looks deeper than a system ranks',
  'cutoff-covers-collection': 'a cut-off or a ranking is as deep as the collection',
  'recall-is-hit-rate': 'every query has one relevant document, so that recall is a hit rate',
  'reported-recall-is-hit-rate': 'a result file reports a hit rate as recall',
  'unknown-documents': 'a system ranks documents that the collection or the judgements do not know',
  'missing-queries': 'a system has no ranking for judged queries, which count 0',
  'unjudged-queries': 'a system ranks queries without judgements, which do not count',
  'unanswerable-queries': 'judged queries have no relevant document, and do not count',
  'small-stratum': 'a stratum has fewer than 50 queries that count, too few to rank systems reliably',
  'query-as-document': 'a query is among its own documents',
  'later-documents': 'a system ranks documents that are not earlier than the query',
  'unreachable-list': 'a turn that one list of an arm alone finds cannot reach the ranks that are measured',
  'unknown-turns': 'judgements name no turn of the dataset, and do not count',
  'tied-end': 'the rankings of an arm end in turns of one score, which are in the order of their ids',
  'unknown-attribute': 'the filter of an arm reads an attribute that no turn has',
} as const);

/** The code of a protocol warning, one of the keys of {@link PROTOCOL_WARNINGS}. */
export type WarningCode = keyof typeof PROTOCOL_WARNINGS;

/** @param system the name of the system; null for a fault of the judgements or of all systems together */
export function describeWarning(code: WarningCode, system: string | null, text: string): ProtocolWarning {
  return { code, system, message: system === null ? text : `${system}: ${text}` };
}

/** The least number of queries at which a stratum ranks systems reliably. Source: voorhees2002topic. */
const LEAST_QUERIES_PER_STRATUM = 50;

/** A stratum and its queries. */
interface StratumSize {
  readonly stratum: string;
  readonly queries: number;
}

/**
 * The strata with fewer than {@link LEAST_QUERIES_PER_STRATUM} queries, by name.
 *
 * @param strata the stratum of each query; null if it has none.
 */
export function findSmallStrata(strata: Iterable<string | null>): StratumSize[] {
  const counts = new Map<string, number>();
  for (const stratum of strata) if (stratum !== null) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
  return Array.from(counts, ([stratum, queries]) => ({ stratum, queries }))
    .filter(({ queries }) => queries < LEAST_QUERIES_PER_STRATUM)
    .sort((a, b) => (a.stratum < b.stratum ? -1 : 1));
}

/** `stratum multi-hop has 39 queries, fewer than 50; add 11 queries, or report it as too small to rank systems` */
export function describeSmallStratum({ stratum, queries }: StratumSize): string {
  const least = LEAST_QUERIES_PER_STRATUM;
  return `stratum ${stratum} has ${queries} queries, fewer than ${least}; add ${least - queries} queries, or report it as too small to rank systems`;
}

/** A warning for each stratum with too few queries to rank systems. @param strata of the queries that count; undefined if a query has none. */
export function describeSmallStrata(strata: readonly (string | undefined)[]): ProtocolWarning[] {
  return findSmallStrata(strata.map((stratum) => stratum ?? null)).map((small) =>
    describeWarning('small-stratum', null, describeSmallStratum(small)),
  );
}

/** A warning if judgements of a dataset name no turn of it. */
export function describeUnknownTurns({ name, facts }: Pick<DatasetSummary, 'name' | 'facts'>): ProtocolWarning[] {
  const dropped = countUnknownTurns(facts);
  if (dropped === 0) return [];
  const text = `judgements that name no turn of ${name}, and do not count: ${dropped}; correct them, or give their number with the figures`;
  return [describeWarning('unknown-turns', null, text)];
}

/** Examples in a message. */
const SHOWN = 3;

/** The first of some names: `a, b, c, …`. */
export function joinExamples(names: readonly string[]): string {
  return names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ', …' : '');
}
