import { ValidationError } from '../../../core/errors/errors.ts';
import { LEAST_CLUSTERS } from '../../../eval/intervals/mean-intervals.ts';
import { readDirection } from '../../../eval/metrics/metric.ts';
import {
  CORRECTIONS,
  type CorrectionName,
  LEAST_TRUSTED,
  type TestName,
} from '../../../eval/significance/multiple-comparisons.ts';
import { TIE } from '../../../eval/significance/paired-differences.ts';
import { MOST_SAMPLES } from '../../../eval/significance/sign-flip-permutation.ts';
import { isSignificant } from '../../../eval/significance/verdict.ts';
import type { NullControl } from '../../measure/fit-result.ts';
import type { ArmResult, Comparison, ExperimentResult } from '../../measure/result.ts';
import { formatDecimal, formatProbability } from './format.ts';

type Compared = Pick<ArmResult, 'name' | 'comparisons'>;

function getMetricDifference({ name, comparisons }: Compared, metric: string): number {
  const comparison = comparisons?.[metric];
  if (comparison === undefined)
    throw new ValidationError(`${name} has no comparison in metric: ${metric}; measure the arms again`, { metric });
  return comparison.difference.mean;
}

/**
 * (learned - control) / (learned - baseline): how much of what training gains is gone under a null control. Above 1
 * where the control is below the baseline, negative where it is above what was learned; null where nothing was gained,
 * and where the exchange changes the baseline too: what is gone then is not of the gain alone.
 *
 * @throws ValidationError when no arm is `learned`, or that or the control is not compared in the metric.
 */
export function computeGainShare(
  arms: readonly Compared[],
  { part, comparisons, baseline }: Pick<NullControl, 'part' | 'comparisons' | 'baseline'>,
  metric: string,
): number | null {
  const learned = arms.find(({ name }) => name === 'learned');
  if (learned === undefined)
    throw new ValidationError(`no arm is learned, only ${arms.map(({ name }) => name).join(', ')}; train again`);
  const gain = getMetricDifference(learned, metric);
  const lost = -getMetricDifference({ name: part, comparisons }, metric);
  return gain > TIE && baseline.isUnchanged ? lost / gain : null;
}

/** In per cent, `43 %`; empty without a share. */
export function formatGainShare(share: number | null): string {
  return share === null ? '' : `${formatDecimal(100 * share, 0)} %`;
}

/**
 * The smallest p that a test of G clusters can reach, for any differences. Sign flips, by which a p of few clusters is
 * confirmed, and signed ranks: two of 2^G sign vectors are as extreme, and a sampled p is not below 1 / (samples + 1).
 * The t test reaches any p from {@link LEAST_TRUSTED} clusters on, so that it is 0; with one or two clusters it is not
 * made.
 */
export function computeSmallestP(test: TestName, clusters: number): number {
  const two = 2 ** (1 - clusters);
  if (test === 't' && clusters < LEAST_CLUSTERS) return 1;
  if (test === 't' && clusters >= LEAST_TRUSTED) return 0;
  return test === 'permutation' ? Math.max(two, 1 / (MOST_SAMPLES + 1)) : two;
}

/**
 * The smallest corrected p of a table: {@link computeSmallestP}, corrected over a number of columns that all reach it.
 */
export function computeSmallestCorrectedP(
  test: TestName,
  correction: CorrectionName,
  clusters: number,
  columns: number,
): number {
  const [corrected = 1] = CORRECTIONS[correction](new Array(columns).fill(computeSmallestP(test, clusters)));
  return corrected;
}

type Verdict = Comparison['verdict'];

/** A comparison as far as it decides. Results of earlier versions lack what is counted by conversation. */
interface Decided extends Pick<Comparison, 'verdict' | 'minimumDetectable'> {
  readonly difference: Pick<Comparison['difference'], 'mean'>;
  readonly clusterWins?: number | null;
  readonly clusterLosses?: number | null;
  readonly signFlipP?: number | null;
}

/** A row of a table against its baseline; null for the baseline itself. */
interface DecidedRow {
  readonly name: string;
  readonly comparisons: Readonly<Record<string, Decided>> | null;
  /** Not null for a null control, which no sentence is about. */
  readonly control?: unknown;
}

type Correction = Pick<ExperimentResult['statistics'], 'test' | 'correction' | 'level'>;

/** The figures and words that the sentences about a table are written from. */
interface DecisionFacts {
  /** The name of the rows, in the plural. */
  readonly rows: string;
  readonly baseline: string;
  /** The first one is what the sentences are about, before what the others decide otherwise. */
  readonly metrics: readonly string[];
  readonly arms: readonly DecidedRow[];
  /** The number of comparisons that are corrected together, if the table does not have all of them. */
  readonly corrected?: number;
  readonly statistics: Correction;
  readonly conversations: number;
  /** The number of seeds of the rows; by default 1. With several the test is a t test, whatever the statistics name. */
  readonly seeds?: number;
  /** The words after `better` and `distinguished`, where the rows are not compared with one baseline. */
  readonly words?: { readonly than: string; readonly from: string };
}

/** Names in a sentence are at most this many; more are counted. */
const MOST_NAMES = 3;

type Row = DecidedRow & { readonly comparisons: Readonly<Record<string, Decided>> };

function readVerdict({ comparisons }: Row, metric: string): Verdict {
  return comparisons[metric]?.verdict ?? 'undecided';
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function nameCount(named: readonly Row[], all: readonly Row[], rows: string): string {
  return named.length === all.length ? `all ${all.length} ${rows}` : `${named.length} of ${all.length} ${rows}`;
}

/** Rows as the subject of a sentence. A name with a comma is in quotation marks. */
function nameRows(named: readonly Row[], all: readonly Row[], rows: string): string {
  if (named.length > MOST_NAMES) return nameCount(named, all, rows);
  return joinWords(named.map(({ name }) => (/,| and /.test(name) ? `"${name}"` : name)));
}

/** The beginning of a sentence about rows, up to its verb. */
function sayOf(named: readonly Row[], all: readonly Row[], rows: string): string {
  return `${nameRows(named, all, rows)} ${named.length === 1 ? 'is' : 'are'}`;
}

function nameConversations(conversations: number): string {
  return `${conversations.toLocaleString('en')} ${conversations === 1 ? 'conversation' : 'conversations'}`;
}

/**
 * The sentence that no difference can be decided: the smallest p that the conversations can reach, corrected over a
 * number of comparisons, is not below the bound. Empty where a difference can be decided.
 *
 * @param of the name of what is compared, in the plural
 */
export function describeUndecidable(
  { test, correction, level }: Correction,
  conversations: number,
  count: number,
  of = 'comparisons',
): string[] {
  const least = computeSmallestCorrectedP(test, correction, conversations, count);
  if (count === 0 || isSignificant(least, level)) return [];
  const compared = count === 1 ? of.replace(/^(\w+)s\b/, '$1') : of;
  return [
    `${nameConversations(conversations)} cannot decide ${count} ${compared}: the smallest possible p is ${formatProbability(least)}.`,
  ];
}

/** The rows that win or lose in every conversation, or the row that wins in the most. Empty for earlier results. */
function describeConversationWins(compared: readonly Row[], metric: string, facts: DecisionFacts): string[] {
  const { rows, conversations, baseline, words } = facts;
  const than = words?.than ?? `than ${baseline}`;
  const known = compared.flatMap((row) => {
    const { clusterWins, clusterLosses, signFlipP, difference } = row.comparisons[metric] as Decided;
    if (clusterWins == null || clusterLosses == null || signFlipP == null) return [];
    const gain = readDirection(metric) === 'higher' ? difference.mean : -difference.mean;
    return [{ row, wins: clusterWins, losses: clusterLosses, p: signFlipP, gain }];
  });
  if (known.length < compared.length || known.length === 0) return [];
  const listAll = (key: 'wins' | 'losses') => known.filter((one) => one[key] === conversations);
  const [better, worse] = [listAll('wins'), listAll('losses')];
  const say = (named: typeof known) =>
    sayOf(
      named.map(({ row }) => row),
      compared,
      rows,
    );
  const share = `in ${conversations} of ${conversations}`;
  const parts = [
    ...(better.length === 0 ? [] : [`${say(better)} better ${than} ${share}`]),
    ...(worse.length === 0 ? [] : [`${say(worse)} worse ${better.length === 0 ? `${than} ` : ''}${share}`]),
  ];
  const all = [...better, ...worse];
  if (all.length > 0)
    return [
      `On ${metric}, ${parts.join('; ')}; p ${formatProbability(Math.max(...all.map(({ p }) => p)))} uncorrected.`,
    ];
  const [best] = known.toSorted((a, b) => b.wins - a.wins || b.gain - a.gain);
  if (best === undefined || best.wins === 0) return [];
  return [
    `At best, ${say([best])} better ${than} on ${metric} in ${best.wins} of ${conversations}; p ${formatProbability(best.p)} uncorrected.`,
  ];
}

/**
 * The size of undecided differences beside what can be found. Each row has its own smallest difference that is
 * detected; the largest of these is detected in each row.
 *
 * @param where the metric, if the sentence has not named it
 */
function describeReach(open: readonly Row[], metric: string, where: string, { conversations }: DecisionFacts): string {
  const found = open.map(({ comparisons }) => comparisons[metric] as Decided);
  if (found.some(({ minimumDetectable }) => minimumDetectable === null)) return '';
  const gap = Math.max(...found.map(({ difference }) => Math.abs(difference.mean)));
  const least = Math.max(...found.map(({ minimumDetectable }) => minimumDetectable as number));
  const [shownGap, shownLeast] = [formatDecimal(gap, 3), formatDecimal(least, 3)];
  const [noun, are, each] = open.length === 1 ? ['difference', 'is', ''] : ['differences', 'are', ' in each'];
  if (gap === 0) return `: the ${noun}${where} ${are} 0`;
  const detected = `that ${nameConversations(conversations)} ${conversations === 1 ? 'detects' : 'detect'}${each}`;
  if (Number(shownGap) < Number(shownLeast))
    return `: the ${noun}${where} ${are} below ${shownLeast}, the smallest ${detected}`;
  const largest = open.length === 1 ? 'difference' : 'largest difference';
  return `: the ${largest}${where} is ${shownGap}, and ${shownLeast} the smallest ${detected} without a correction`;
}

/** The decisions of the first metric, and the size of its undecided differences. */
function describePrimary(compared: readonly Row[], facts: DecisionFacts): string[] {
  const { metrics, rows, baseline, words } = facts;
  const [metric = ''] = metrics;
  const { than, from } = words ?? { than: `than ${baseline}`, from: `from ${baseline}` };
  const select = (verdict: Verdict) => compared.filter((row) => readVerdict(row, metric) === verdict);
  const [better, worse, open] = [select('better'), select('worse'), select('undecided')];
  const agree = compared.every((row) => metrics.every((other) => readVerdict(row, other) === readVerdict(row, metric)));
  const on = `On ${metrics.length > 1 && agree ? 'every metric' : metric}, `;
  const decided = [
    ...(better.length === 0 ? [] : [`${sayOf(better, compared, rows)} better ${than}`]),
    ...(worse.length === 0 ? [] : [`${sayOf(worse, compared, rows)} worse${better.length === 0 ? ` ${than}` : ''}`]),
  ];
  if (decided.length > 0 && open.length === 0) return [`${on}${decided.join('; ')}.`];
  const isNamed = on === `On ${metric}, `;
  const describe = (others: string, canNot: string, where: string) =>
    `${others} ${canNot} be distinguished ${from}${describeReach(open, metric, where, facts)}.`;
  if (decided.length === 0)
    return [
      open.length > MOST_NAMES
        ? `${on}${describe(`none of ${open.length} ${rows}`, 'can', isNamed ? '' : ` on ${metric}`)}`
        : `${on}${describe(nameRows(open, compared, rows), 'cannot', isNamed ? '' : ` on ${metric}`)}`,
    ];
  const others = open.length === 1 ? nameRows(open, compared, rows) : `The other ${open.length} ${rows}`;
  return [`${on}${decided.join('; ')}.`, describe(others, 'cannot', metrics.length === 1 ? '' : ` on ${metric}`)];
}

/** More verdicts of other metrics than this are counted. */
const MOST_PARTS = 3;

/** Decisions of other metrics that the first does not make; empty without any. */
function describeOthers(compared: readonly Row[], { metrics, rows }: DecisionFacts): string[] {
  const [primary = '', ...others] = metrics;
  const found = new Map<string, { readonly named: readonly Row[]; readonly verdict: Verdict; readonly on: string[] }>();
  for (const metric of others)
    for (const verdict of ['better', 'worse'] as const) {
      const named = compared.filter(
        (row) => readVerdict(row, metric) === verdict && readVerdict(row, primary) !== verdict,
      );
      if (named.length === 0) continue;
      const key = JSON.stringify([verdict, named.map(({ name }) => name)]);
      const known = found.get(key);
      if (known === undefined) found.set(key, { named, verdict, on: [metric] });
      else known.on.push(metric);
    }
  if (found.size === 0) return [];
  if (found.size > MOST_PARTS) {
    const moved = new Set([...found.values()].flatMap(({ named }) => named));
    return [`Other metrics decide otherwise on ${nameCount([...moved], compared, rows)}.`];
  }
  const parts = Array.from(
    found.values(),
    ({ named, verdict, on }) => `${sayOf(named, compared, rows)} ${verdict} on ${joinWords(on)}`,
  );
  return [`Other metrics: ${parts.join('; ')}.`];
}

/**
 * Sentences of what a table decides and what it does not: on the first metric, then where other metrics decide
 * otherwise. Where the conversations can decide nothing, they say so, and in how many conversations rows are better or
 * worse. Empty without a comparison.
 */
export function describeDecisions(facts: DecisionFacts): string[] {
  const { arms, statistics, conversations, metrics, seeds = 1 } = facts;
  const compared = arms.filter((row): row is Row => row.comparisons !== null && (row.control ?? null) === null);
  const [primary] = metrics;
  if (compared.length === 0 || primary === undefined) return [];
  const tested = seeds === 1 ? statistics : ({ ...statistics, test: 't' } as const);
  const none = describeUndecidable(tested, conversations, facts.corrected ?? compared.length);
  const isOpen = compared.every((row) => metrics.every((metric) => readVerdict(row, metric) === 'undecided'));
  if (none.length > 0 && isOpen) return [...none, ...describeConversationWins(compared, primary, facts)];
  return [...describePrimary(compared, facts), ...describeOthers(compared, facts)];
}
