import { createRandom, type Random } from '../../../core/numbers/random.ts';
import type { FitResult, FoldResult, Importance, LearnedNumber, NullControl } from '../../measure/fit-result.ts';
import type { ArmResult, Comparison, ExperimentResult, Fitted, Interval, Stratum } from '../../measure/result.ts';
import { inventResult } from './invented-result.fixture.ts';

/** The size of an invented training. */
interface SampleTrainingSize {
  readonly signals: number;
  readonly folds: number;
  readonly epochs: number;
  readonly queries: number;
  /** True if the weights were tried on other data. */
  readonly transfer?: boolean;
}

const METRICS = ['recall@10', 'ndcg@10', 'mrr@10'];
const METHODS = ['hand-tuned', 'uniform', 'random search', 'coordinate ascent', 'learned'];
const GAINS = [0, -0.06, 0.02, 0.035, 0.07];
/** The loss under each null control; the last one exchanges the signals of all the others. */
const TAKEN = { neighbours: 0.028, time: 0.009, structure: -0.001, 'all of these': 0.041 };
const SCORES = [
  'bm25',
  'cosine',
  'cosine.lsa',
  'coverage.entities',
  'bm25.session',
  'asked & <named>',
  'age',
  'rank.age',
];
const SPREADS = ['', '@previous', '@next', '@previous-2', '@next-2', '@session-best', '@session-mean', '@share'];

/** A result with the shape of a real training and invented figures. */
export function inventFitted(seed: number, size: SampleTrainingSize): Fitted {
  const draw = createRandom(seed, 'sample-training');
  const threads = Math.ceil(size.queries / 2);
  const run = inventResult(seed, { arms: 2, threads, turnsAThread: 5, top: 5 });
  const queries = run.queries
    .slice(0, size.queries)
    .map((query, q) => ({ ...query, cluster: `conversation-${q % size.folds}` }));
  const strata = inventTrainingStrata(size.queries);
  const signals = inventSignalNames(size.signals);
  const numbers = inventLearnedNumbers(draw, 'weights', signals);
  const { config: _, ...same } = run;
  return {
    ...same,
    name: 'sample-training',
    hash: '5a17c0de',
    description: 'Which signals find the turn that a question asks for? An invented training.',
    config: { name: 'sample-training' },
    queries,
    metrics: METRICS,
    baseline: 'hand-tuned',
    arms: METHODS.map((_, at) => inventMethodArm(draw, at, strata, run, size.queries)),
    strata,
    remarks: ['Every ranking is by numbers that have not seen its conversation.', 'The candidates hold .931.'],
    timings: [],
    fit: inventFit(draw, numbers, size, signals),
  };
}

function inventSignalNames(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const name = `${SCORES[at % SCORES.length]}${SPREADS[Math.floor(at / SCORES.length) % SPREADS.length]}`;
    return at < SCORES.length * SPREADS.length ? name : `${name}*form.${at}`;
  });
}

function inventTrainingStrata(queries: number): Stratum[] {
  const filterQueryNumbers = (test: (query: number) => boolean) =>
    Array.from({ length: queries }, (_, q) => q).filter(test);
  return [
    {
      name: 'kind',
      description: 'what sort of question it is',
      levels: ['multi-hop', 'temporal', 'single-hop'].map((name, l) => ({
        name,
        queries: filterQueryNumbers((q) => q % 3 === l),
      })),
    },
    {
      name: 'place of the query in its conversation',
      description: 'as of its moment',
      levels: ['first half', 'second half'].map((name, l) => ({
        name,
        queries: filterQueryNumbers((q) => q % 2 === l),
      })),
    },
  ];
}

function inventMeanInterval(draw: Random, mean: number, half: number): Interval {
  return { mean, low: mean - half * (0.8 + 0.4 * draw.uniform()), high: mean + half * (0.8 + 0.4 * draw.uniform()) };
}

function inventIntervals(draw: Random, around: number): Record<string, Interval> {
  return Object.fromEntries(
    METRICS.map((metric, m) => [metric, inventMeanInterval(draw, around + 0.1 - 0.06 * m, 0.025)]),
  );
}

function inventTestedComparison(draw: Random, mean: number): Comparison {
  const p = Math.min(1, Math.exp(-80 * Math.abs(mean)) * (0.5 + draw.uniform()));
  const verdict = mean > 0 ? 'better' : 'worse';
  return {
    difference: inventMeanInterval(draw, mean, 0.02),
    p: p / 2,
    correctedP: p,
    samples: 10_000,
    unresolved: false,
    verdict: p < 0.05 ? verdict : 'undecided',
    effectSize: 3 * mean,
    minimumDetectable: 0.03,
    wins: 23,
    ties: 61,
    losses: 13,
    clusterWins: 17,
    clusterTies: 3,
    clusterLosses: 9,
    signFlipP: null,
  };
}

function inventComparisons(draw: Random, mean: number): Record<string, Comparison> {
  return Object.fromEntries(METRICS.map((metric, m) => [metric, inventTestedComparison(draw, mean * (1 - 0.1 * m))]));
}

function inventMethodArm(
  draw: Random,
  at: number,
  strata: readonly Stratum[],
  { arms }: ExperimentResult,
  queries: number,
): ArmResult {
  const gain = GAINS[at] as number;
  const inventStratumValue = (shift: number) => ({
    mean: 0.6 + gain + shift,
    difference: at === 0 ? null : inventMeanInterval(draw, gain + shift / 3, 0.04),
    p: at === 0 ? null : 0.01,
    correctedP: at === 0 ? null : Math.min(1, 0.04 + Math.abs(shift)),
  });
  // the first and the last one have rankings
  const ranked = at === 0 ? arms[0] : at === METHODS.length - 1 ? arms[1] : undefined;
  const rankings = (ranked?.rankings ?? arms[0]?.rankings.map(() => []) ?? []).slice(0, queries);
  return {
    name: METHODS[at] as string,
    ...{ description: '', options: {}, levels: null, control: null, structure: null, tuned: {}, componentNames: [] },
    ...{ attribution: {}, losses: rankings.map(() => ({})), latency: null },
    perQuery: Object.fromEntries(
      METRICS.map((metric) => [metric, arms[at === 0 ? 0 : 1]?.perQuery[metric]?.slice(0, queries) ?? []]),
    ),
    contributionNames: ['bm25', 'decay'],
    rankings: rankings.map((ranking) =>
      ranking.map(({ id, score }) => ({ id, score, components: [], contributions: [1.5 * score, -0.5 * score] })),
    ),
    metrics: inventIntervals(draw, 0.6 + gain),
    comparisons: at === 0 ? null : inventComparisons(draw, gain),
    holes: 97 * (at + 1),
    strata: Object.fromEntries(
      strata.map(({ name, levels }) => [
        name,
        Object.fromEntries(
          levels.map((level, l) => [
            level.name,
            Object.fromEntries(METRICS.map((metric, m) => [metric, inventStratumValue(0.07 * (l - 1) - 0.05 * m)])),
          ]),
        ),
      ]),
    ),
  };
}

function inventLearnedNumbers(draw: Random, parameter: string, labels: readonly string[]): LearnedNumber[] {
  return labels.map((label, at) => {
    const value = (1.4 * (draw.uniform() - 0.4)) / Math.sqrt(1 + at / 5);
    const { low, high } = inventMeanInterval(draw, value, 0.15);
    return { parameter, label, handTuned: at < 2 ? 1 : 0, value, interval: { low, high } };
  });
}

function inventFoldResult(draw: Random, fold: number, { epochs }: SampleTrainingSize): FoldResult {
  const height = 2.4 + 0.3 * draw.uniform();
  const ran = Math.round(epochs * (0.6 + 0.4 * draw.uniform()));
  const best = 0.58 + 0.06 * draw.uniform();
  return {
    clusters: [`conversation-${fold}`],
    point: { loss: fold % 3 === 0 ? 'infonce' : 'listwise', l2: 0.003, learningRate: 0.05 },
    epochs: ran,
    curve: Array.from({ length: ran + 1 }, (_, epoch) => ({
      epoch,
      loss: epoch === 0 ? null : height * (0.7 + 0.3 * Math.exp(-epoch / 9)) + 0.02 * draw.uniform(),
      validation: null,
    })),
    validation: Array.from({ length: ran + 9 }, (_, epoch) => best - 0.1 * Math.exp(-epoch / 6) - 0.0004 * epoch),
  };
}

function inventFit(
  draw: Random,
  numbers: readonly LearnedNumber[],
  size: SampleTrainingSize,
  signals: readonly string[],
): FitResult {
  const { clusters: _, ...last } = inventFoldResult(draw, 1, size);
  const transfers = [
    { model: 'linear', queries: 97, conversations: 41, trainedOn: 'sample-training', testedOn: 'irc' },
    { model: 'linear', queries: 89, conversations: 13, trainedOn: 'irc', testedOn: 'sample-training' },
  ];
  return {
    ...last,
    ...{ model: 'linear', signals, poolRecall: 0.931, validatedBy: 'ndcg@10', resamples: 100 },
    numbers,
    folds: Array.from({ length: size.folds }, (_, fold) => inventFoldResult(draw, fold, size)),
    searches: ['random search', 'coordinate ascent'].map((method, at) => ({
      method,
      evaluations: Array.from({ length: size.folds }, (_, fold) => 311 + (fold % 3)),
      foldsAtStart: at === 0 ? 2 : 0,
    })),
    calibration: { bins: inventCalibrationBins(draw), expectedError: 0.0123 },
    importance: signals.slice(0, 60).map((family) => inventImportance(draw, family)),
    controls: inventNullControls(draw, signals),
    file: 'weights-linear.safetensors',
    transfer:
      size.transfer === true
        ? transfers.map((one, at) => ({ ...one, metrics: inventIntervals(draw, [0.31, 0.44][at] as number) }))
        : [],
  };
}

function inventCalibrationBins(draw: Random): FitResult['calibration']['bins'] {
  return Array.from({ length: 10 }, (_, bin) => {
    const count = bin === 7 ? 0 : Math.round(30_000 * Math.exp(-1.1 * bin)) + 1;
    const predicted = count === 0 ? null : (bin + 0.3 + 0.3 * draw.uniform()) / 10;
    const observed = predicted === null ? null : Math.min(1, predicted * (0.8 + 0.3 * draw.uniform()));
    return { low: bin / 10, high: (bin + 1) / 10, count, predicted, observed };
  });
}

function inventImportance(draw: Random, family: string): Importance {
  const mean = -0.05 * draw.uniform() ** 4 + 0.004 * (draw.uniform() - 0.5);
  return { family, signals: [family, `${family}@share`], comparisons: inventComparisons(draw, mean) };
}

function inventNullControls(draw: Random, signals: readonly string[]): NullControl[] {
  const gain = GAINS.at(-1) as number;
  return Object.entries(TAKEN).map(([part, taken], at, { length }) => ({
    part,
    signals: signals.filter((_, s) => (at === length - 1 ? s % length < at : s % length === at)),
    metrics: inventIntervals(draw, 0.6 + gain - taken),
    comparisons: inventComparisons(draw, -taken),
    baseline: {
      isUnchanged: part !== 'all of these',
      comparisons: inventComparisons(draw, part === 'all of these' ? -0.03 : 0),
    },
  }));
}
