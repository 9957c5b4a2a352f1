import { DimensionMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { getOrCompute } from '../../../core/values/once.ts';
import type { ArmConservation } from '../../measure/conservation.ts';
import type {
  ArmResult,
  Comparison,
  Estimate,
  ExperimentResult,
  RankedTurn,
  StratumValue,
} from '../../measure/result.ts';
import { nameConservationSet } from '../tables/side-tables.ts';

/** Mean and ends of an interval; the ends are null where there is none. */
type Bounds = readonly [number, number | null, number | null];

/** An arm as the page's script reads it: everything by position, in the order of the payload's metrics, queries, strata, factors and fates. */
export interface ArmPayload {
  readonly name: string;
  /** True if it is a null control. */
  readonly control: boolean;
  /** By metric. */
  readonly intervals: readonly Bounds[];
  /** Against the baseline, [difference, low, high, corrected p] by metric; empty for the baseline. */
  readonly differences: readonly (readonly (number | null)[])[];
  /** By metric. */
  readonly verdicts: readonly Comparison['verdict'][];
  /** [Q] by metric. */
  readonly perQuery: readonly (readonly number[])[];
  readonly components: readonly string[];
  /** [Q] of turn, score and components, one ranked turn after the other; null for an arm whose rankings the page does not hold. */
  readonly rankings: readonly (readonly number[])[] | null;
  /** Names of the parts that add up to a score, the greatest first; empty where the run has none. */
  readonly contributionNames: readonly string[];
  /** [Q] of the parts of each ranked turn, one turn after the other; null as for the rankings. */
  readonly contributions: readonly (readonly number[])[] | null;
  /** Sentences that say why a turn has its score; empty where the arm has none. */
  readonly reasonTexts: readonly string[];
  /** [Q] of the position of each ranked turn's sentence, -1 without one; null as for the rankings, and where the arm has none. */
  readonly reasons: readonly (readonly number[])[] | null;
  /** Names of the trajectory coordinates; empty where the arm has none. */
  readonly coordinateNames: readonly string[];
  /** [Q] of the coordinates of each ranked turn, then of the query in its frame; null as for the rankings. */
  readonly coordinates: readonly (readonly number[])[] | null;
  /** True if a selection reordered what the parts add up to. */
  readonly selects: boolean;
  /** [Q] of relevant turn and fate, one after the other; null as for the rankings. */
  readonly lost: readonly (readonly number[])[] | null;
  /** Position of its level in each factor of the sweep, -1 if it has none; empty for an arm of no sweep. */
  readonly levels: readonly number[];
  /** By stratum, level and metric: [mean, difference, low, high, corrected p]; null for what there is not. */
  readonly strata: readonly (readonly (readonly (readonly (number | null)[])[])[])[];
  /** Relevant turns by fate. */
  readonly fates: readonly number[];
  /** By budget of tokens; null without a curve. */
  readonly evidence: { readonly recall: readonly Bounds[]; readonly ceiling: readonly Bounds[] } | null;
  /** The conservation of the S sets of turns of each query, [S, Q] a figure; null if not measured. */
  readonly conservation: ConservationPayload | null;
  /** [p50, p95, p99] in milliseconds by component; null if not timed. */
  readonly latency: Readonly<Record<string, readonly number[]>> | null;
}

/** Figures of S sets of turns for each of Q queries, [S, Q]. */
export interface ConservationPayload {
  /** [S] */
  readonly sets: readonly string[];
  readonly coherence: readonly (readonly number[])[];
  readonly magnitude: readonly (readonly number[])[];
  readonly information: readonly (readonly number[])[];
}

export interface Factor {
  readonly name: string;
  readonly levels: readonly string[];
}

export interface ArmContext {
  /** Positions of the page's turns by id. */
  readonly positions: ReadonlyMap<string, number>;
  readonly inspected: ReadonlySet<string>;
  /** The possible fates of a relevant turn. */
  readonly fates: readonly string[];
  readonly factors: readonly Factor[];
}

/** @throws ValidationError for a ranked turn that is not in the dataset; DimensionMismatchError if arrays do not fit the queries. */
export function buildArmPayload(arm: ArmResult, result: ExperimentResult, context: ArmContext): ArmPayload {
  const { queries, metrics } = result;
  if (arm.rankings.length !== queries.length)
    throw new DimensionMismatchError(`rankings of arm ${arm.name}`, queries.length, arm.rankings.length);
  // an arm whose rankings the result does not hold has no candidate anywhere
  const isInspected = context.inspected.has(arm.name) && arm.rankings.some((ranking) => ranking.length > 0);
  return {
    name: arm.name,
    control: arm.control !== null,
    intervals: metrics.map((metric) => packBounds(arm.metrics[metric] as Estimate)),
    differences: metrics.map((metric) => packDifference(arm.comparisons?.[metric])),
    verdicts: metrics.map((metric) => arm.comparisons?.[metric]?.verdict ?? 'undecided'),
    perQuery: metrics.map((metric) => packPerQuery(arm, metric, queries.length)),
    components: arm.componentNames,
    rankings: isInspected ? packRankings(arm, context.positions) : null,
    ...packContributions(arm, isInspected),
    ...packReasons(arm, isInspected),
    coordinateNames: arm.coordinateNames ?? [],
    coordinates: isInspected ? packRanks(arm, ({ coordinates }) => coordinates) : null,
    selects: arm.componentNames.includes('before selection'),
    lost: isInspected ? packLosses(arm, context) : null,
    levels:
      arm.levels === null ? [] : context.factors.map(({ name, levels }) => levels.indexOf(arm.levels?.[name] ?? '')),
    strata: result.strata.map(({ name, levels }) =>
      levels.map((level) => metrics.map((metric) => packStratum(arm.strata[name]?.[level.name]?.[metric]))),
    ),
    fates: context.fates.map((fate) => arm.attribution[fate] ?? 0),
    evidence:
      arm.evidence === undefined
        ? null
        : { recall: arm.evidence.recall.map(packBounds), ceiling: arm.evidence.ceiling.map(packBounds) },
    conservation: arm.conservation === undefined ? null : packConservation(arm.conservation),
    latency:
      arm.latency &&
      Object.fromEntries(Object.entries(arm.latency).map(([part, { p50, p95, p99 }]) => [part, [p50, p95, p99]])),
  };
}

function packConservation({ perQuery, k }: ArmConservation): ConservationPayload {
  const sets = Object.values(perQuery);
  const pick = (figure: 'coherence' | 'magnitude' | 'information') =>
    sets.map((figures) => figures[figure].map(roundToFiveDigits));
  return {
    sets: Object.keys(perQuery).map((set) => nameConservationSet(set, k)),
    ...{ coherence: pick('coherence'), magnitude: pick('magnitude'), information: pick('information') },
  };
}

function packBounds({ mean, low, high }: Estimate): [number, number | null, number | null] {
  return low === null
    ? [roundToFiveDigits(mean), null, null]
    : [roundToFiveDigits(mean), roundToFiveDigits(low), roundToFiveDigits(high)];
}

function packDifference(comparison: Comparison | undefined): (number | null)[] {
  return comparison === undefined
    ? []
    : [...packBounds(comparison.difference), roundToFiveDigits(comparison.correctedP)];
}

function packStratum(value: StratumValue | undefined): (number | null)[] {
  if (value === undefined) return [];
  const { mean, difference: gain, correctedP } = value;
  return [mean, gain?.mean, gain?.low, gain?.high, correctedP].map((figure) =>
    figure == null ? null : roundToFiveDigits(figure),
  );
}

function packRankings(arm: ArmResult, positions: ReadonlyMap<string, number>): number[][] {
  return arm.rankings.map((ranking) =>
    ranking.flatMap(({ id, score, components }) => {
      const turn = positions.get(id);
      if (turn === undefined)
        throw new ValidationError(
          `arm ${arm.name} ranks a turn that is not in the dataset: ${id}; run the experiment again`,
        );
      if (components.length !== arm.componentNames.length)
        throw new DimensionMismatchError(
          `components of ${id} in arm ${arm.name}`,
          arm.componentNames.length,
          components.length,
        );
      return [turn, roundToFiveDigits(score), ...components.map(roundToFiveDigits)];
    }),
  );
}

function packRanks(
  { rankings }: ArmResult,
  read: (turn: RankedTurn) => readonly number[] | undefined,
): readonly (readonly number[])[] {
  return rankings.map((ranking) => ranking.flatMap((turn) => (read(turn) ?? []).map(roundToFiveDigits)));
}

/** Parts that have a colour of their own; the rest is one part. */
const SHOWN_PARTS = 7;

/** The parts of the scores; of more than eight the page adds all but the greatest seven up, since they would be too thin to see. */
function packContributions(
  arm: ArmResult,
  isInspected: boolean,
): Pick<ArmPayload, 'contributionNames' | 'contributions'> {
  const names = arm.contributionNames ?? [];
  const kept = names.length <= SHOWN_PARTS + 1 ? names.length : SHOWN_PARTS;
  const contributionNames = kept === names.length ? names : [...names.slice(0, kept), `${names.length - kept} others`];
  const sumRest = (parts: readonly number[]) =>
    kept === names.length ? parts : [...parts.slice(0, kept), parts.slice(kept).reduce((a, b) => a + b, 0)];
  const contributions = isInspected ? packRanks(arm, ({ contributions: parts }) => parts && sumRest(parts)) : null;
  return { contributionNames, contributions };
}

/** Each sentence once: few differ. */
function packReasons({ rankings }: ArmResult, isInspected: boolean): Pick<ArmPayload, 'reasonTexts' | 'reasons'> {
  const texts = new Map<string, number>();
  const reasons = rankings.map((ranking) =>
    ranking.map(({ reason }) => (reason === undefined ? -1 : getOrCompute(texts, reason, () => texts.size))),
  );
  return isInspected && texts.size > 0
    ? { reasonTexts: [...texts.keys()], reasons }
    : { reasonTexts: [], reasons: null };
}

function packLosses({ losses }: ArmResult, { positions, fates }: ArmContext): number[][] {
  return losses.map((fateOf) =>
    Object.entries(fateOf).flatMap(([id, fate]) => {
      const turn = positions.get(id);
      return turn === undefined ? [] : [turn, fates.indexOf(fate)];
    }),
  );
}

function packPerQuery(arm: ArmResult, metric: string, count: number): number[] {
  const values = arm.perQuery[metric] ?? [];
  if (values.length !== count)
    throw new DimensionMismatchError(`${metric} of arm ${arm.name}, values a query`, count, values.length);
  return values.map(roundToFiveDigits);
}

/** Five significant digits: more than the page shows, and half the bytes. */
function roundToFiveDigits(value: number): number {
  return Number(value.toPrecision(5));
}
