import { createRandom } from '../../../core/numbers/random.ts';
import type { ArmConservation } from '../../measure/conservation.ts';
import type {
  ArmResult,
  Comparison,
  EvidenceCurve,
  ExperimentResult,
  Interval,
  MetricPassport,
  StratumValue,
  Structure,
} from '../../measure/result.ts';
import { inventResult } from './invented-result.fixture.ts';

const FATES = ['candidates', 'fusion', 'rerank', 'kept'];
const CONTROLS = ['permuted-order', 'random-parents'];
const PARTS = { candidates: 4, fusion: 0.03, rcp: 30 };

/** The size of an invented sweep: its levels, which give its arms, and the source of the queries. */
export interface SweepSize {
  /** Levels of the factors weight, window and decay. */
  readonly levels: readonly [number, number, number];
  readonly threads: number;
  readonly turnsAThread: number;
  readonly top: number;
}

/**
 * An invented sweep that has something of everything that a report shows: three factors, two null controls of its second arm, whose gain survives one of them, a
 * failed and a stopped arm, strata, passports, curves, conservation, latencies and the fate of every relevant turn.
 */
export function inventSweep(seed: number, { levels, threads, turnsAThread, top }: SweepSize): ExperimentResult {
  const factors = inventFactors(levels);
  const cells = levels[0] * levels[1] * levels[2];
  const sample = inventResult(seed, { arms: cells + 2 + CONTROLS.length, threads, turnsAThread, top });
  const named = sample.arms.map((arm, at) => placeArm(arm, at - 2, cells, factors));
  const strata = inventStrata(sample);
  const finished = { ...sample, strata, arms: named };
  return {
    ...finished,
    arms: named.map((arm, at) => inventMeasuredArm(arm, at, finished)),
    failures: [
      {
        name: 'weight=<broken>',
        description: 'An arm that fails.',
        code: 'NOT_FINITE',
        message: 'score is not finite: NaN',
      },
    ],
    stopped: [
      {
        name: 'weight=9 | hopeless',
        description: 'An arm that a race stopped.',
        queries: 17,
        metric: 'mrr@10',
        mean: 0.101,
        difference: { mean: -0.311, low: -0.42, high: -0.204 },
        p: 0.0004,
      },
    ],
    passports: Object.fromEntries(sample.metrics.map((metric) => [metric, inventPassport(metric, sample)])),
    sweep: {
      method: 'factorial',
      arm: 'unified',
      factors,
      interactions: sample.metrics.map((metric, at) => ({
        factors: ['weight', 'window'],
        metric,
        levels: ['0.25', '3'],
        effect: { mean: 0.03 - 0.02 * at, low: -0.01 - 0.02 * at, high: 0.07 - 0.02 * at },
        p: 0.01 * (at + 1),
        correctedP: 0.04 * (at + 1),
        samples: 10_000,
        unresolved: false,
      })),
    },
  };
}

function inventFactors([weights, windows, decays]: SweepSize['levels']) {
  const inventLevels = (count: number, level: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => level(at));
  return [
    { name: 'weight', levels: inventLevels(weights, (at) => String(at / 4)) },
    { name: 'window', levels: inventLevels(windows, (at) => String(2 * at + 1)) },
    { name: 'decay', levels: inventLevels(decays, (at) => ['off', 'half a day', 'a week'][at] ?? `decay ${at}`) },
  ];
}

/** The arm of a cell; after the cells come the controls, before them two arms of no sweep. */
function placeArm(arm: ArmResult, cell: number, cells: number, factors: ReturnType<typeof inventFactors>): ArmResult {
  if (cell >= cells) {
    const kind = CONTROLS[cell - cells] ?? '';
    return { ...arm, name: `bm25 | control=${kind}`, control: { of: 'bm25', kind } };
  }
  if (cell < 0) return arm.name === 'bm25' ? { ...arm, structure: inventStructure(Object.keys(arm.metrics)) } : arm;
  let rest = cell;
  const levels = factors.map(({ name, levels: choices }) => {
    const level = choices[rest % choices.length] ?? '';
    rest = Math.floor(rest / choices.length);
    return [name, level] as const;
  });
  const name = `unified | ${levels.map(([factor, level]) => `${factor}=${level}`).join(', ')}`;
  return { ...arm, name, levels: Object.fromEntries(levels) };
}

/** The gain survives the first control in every metric, and the second in none. */
function inventStructure(metrics: readonly string[]): Structure {
  const [survived, other] = CONTROLS as [string, string];
  const inventComparisonOf = (mean: number, correctedP: number): Comparison => ({
    difference: { mean, low: mean - 0.02, high: mean + 0.02 },
    p: correctedP / 2,
    correctedP,
    samples: 10_000,
    unresolved: false,
    verdict: correctedP < 0.05 ? 'better' : 'undecided',
    effectSize: 7 * mean,
    minimumDetectable: 0.03,
    wins: 5,
    ties: 3,
    losses: 2,
    clusterWins: 3,
    clusterTies: 0,
    clusterLosses: 1,
    signFlipP: 0.375,
  });
  const test = {
    survives: [survived],
    controls: { [survived]: inventComparisonOf(0.003, 0.7), [other]: inventComparisonOf(0.04, 0.002) },
  };
  return { survives: [survived], metrics: Object.fromEntries(metrics.map((metric) => [metric, test])) };
}

function inventStrata({ queries }: ExperimentResult): ExperimentResult['strata'] {
  const places = queries.map((_, place) => place);
  return [
    {
      name: 'channel',
      description: 'Where the query was asked.',
      levels: ['users', 'developers'].map((name) => ({
        name,
        queries: places.filter((place) => queries[place]?.channel === name),
      })),
    },
    {
      name: 'judged turns',
      description: 'How many turns of the query are judged.',
      levels: [
        { name: 'up to 3', queries: places.filter((place) => inventJudged(queries, place) <= 3) },
        { name: 'more', queries: places.filter((place) => inventJudged(queries, place) > 3) },
      ],
    },
  ];
}

function inventJudged(queries: ExperimentResult['queries'], place: number): number {
  return Object.keys(queries[place]?.judgements ?? {}).length;
}

function inventMeasuredArm(arm: ArmResult, at: number, result: ExperimentResult): ArmResult {
  const draw = createRandom(at, 'sample-sweep');
  const losses = result.queries.map(({ judgements }, q) => {
    const relevant = Object.entries(judgements).flatMap(([id, grade]) => (grade === 3 ? [id] : []));
    const ranked = new Set(arm.rankings[q]?.map(({ id }) => id));
    return Object.fromEntries(
      relevant.map((id) => [id, ranked.has(id) ? 'kept' : (FATES[draw.integer(3)] as string)] as const),
    );
  });
  const fates = losses.flatMap((loss) => Object.values(loss));
  return {
    ...arm,
    losses,
    attribution: Object.fromEntries(FATES.map((fate) => [fate, fates.filter((one) => one === fate).length])),
    strata: Object.fromEntries(
      result.strata.map(({ name, levels }) => [
        name,
        Object.fromEntries(levels.map((level) => [level.name, inventStratumValues(arm, level.queries, result)])),
      ]),
    ),
    evidence: inventCurve(0.3 + 0.1 * draw.uniform()),
    ...(at <= 3 && { conservation: inventConservation(result.queries.length) }),
    latency:
      at > 3
        ? null
        : Object.fromEntries(
            Object.entries(PARTS).map(([part, scale]) => {
              const p50 = scale * (1 + draw.uniform());
              return [part, { p50, p95: 1.7 * p50, p99: 3.1 * p50 }];
            }),
          ),
  };
}

/** A memory whose coherence falls from query to query, and what is shown of it. */
function inventConservation(queries: number): ArmConservation {
  const inventSet = (turns: number, least: number) => {
    const coherence = Array.from({ length: queries }, (_, q) => least + 0.1 / (1 + q));
    const fill = (value: number) => Array.from({ length: queries }, () => value);
    const energy = coherence.map((value) => value / 2);
    return { turns: fill(turns), magnitude: fill(1), energy, coherence, information: fill(Math.log(turns)) };
  };
  const perQuery = { memory: inventSet(97, 0.1), pool: inventSet(23, 0.2), first: inventSet(10, 0.4) };
  const estimate = (values: readonly number[]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / queries;
    return { mean, low: 0.9 * mean, high: 1.1 * mean };
  };
  const means = Object.fromEntries(
    Object.entries(perQuery).map(([set, figures]) => [
      set,
      Object.fromEntries(Object.entries(figures).map(([figure, values]) => [figure, estimate(values)])),
    ]),
  ) as ArmConservation['means'];
  return { k: 10, weights: 'uniform', means, perQuery };
}

/** Evidence that grows by a part of what is missing with each of three budgets. */
function inventCurve(first: number): EvidenceCurve {
  const around = (mean: number) => ({ mean, low: mean - 0.05, high: Math.min(1, mean + 0.04) });
  const grow = (least: number) => [0.4, 0.7, 1].map((part) => around(least + (1 - least) * part * 0.8));
  const [recall, ceiling] = [grow(first), grow(first + 0.3)];
  return { budgets: [250, 1000, 4000], recall, ceiling, area: around(0.6), ceilingArea: around(0.9) };
}

function inventStratumValues(arm: ArmResult, places: readonly number[], { metrics, arms, baseline }: ExperimentResult) {
  const base = arms.find(({ name }) => name === baseline) as ArmResult;
  return Object.fromEntries(
    metrics.map((metric): [string, StratumValue] => {
      const averageArm = (one: ArmResult) => meanAt(one.perQuery[metric] ?? [], places);
      if (arm.name === baseline)
        return [metric, { mean: averageArm(arm), difference: null, p: null, correctedP: null }];
      const gain = averageArm(arm) - averageArm(base);
      const difference: Interval = { mean: gain, low: gain - 0.08, high: gain + 0.08 };
      const p = Math.exp(-((gain / 0.04) ** 2) / 2);
      return [metric, { mean: averageArm(arm), difference, p, correctedP: Math.min(1, 4 * p) }];
    }),
  );
}

function meanAt(values: readonly number[], places: readonly number[]): number {
  return places.reduce((sum, place) => sum + (values[place] ?? 0), 0) / Math.max(places.length, 1);
}

function inventPassport(metric: string, { dataset, queries }: ExperimentResult): MetricPassport {
  return {
    metric,
    definition: `An invented definition of ${metric}.`,
    ties: 'equal scores by id, ascending',
    granularity: 'turn',
    cutoff: Number(metric.split('@')[1]),
    relevantGrade: dataset.relevantGrade,
    dataHash: dataset.hash,
    judgedAt: 0.437,
    queries: queries.length,
    unanswerable: 3,
    judgedOnly: false,
    unanswerableAre: 'apart',
  };
}
