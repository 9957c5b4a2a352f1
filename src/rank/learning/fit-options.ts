import { z } from 'zod';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { datasetOptions } from '../../data/registry.ts';
import type { JudgedRanking } from '../../eval/metrics/judged-ranking.ts';
import { parseMetric, readMetricName } from '../../eval/metrics/metric.ts';
import { NORMALISATIONS } from '../signals/bank/normalisation.ts';
import { signalBankOptions } from '../signals/bank/options.ts';
import { signalName, signalNumbers } from '../signals/plan.ts';
import { computeMissedOffsets, type FeatureTable } from './feature-table.ts';
import { strategyLearningOptions } from './strategy-weights.ts';

/** The metric of early stopping and searches. */
const VALIDATION_METRIC = 'ndcg@10';

/** A metric of the rankings that scores of a table's candidates give. */
export interface TableMetric {
  readonly id: string;
  /**
   * @param scores row-major [Q, C]; values at padding have no meaning
   * @returns [Q] in float64
   * @throws NotFiniteError naming query and candidate.
   */
  values(scores: ArrayLike<number>): Float64Array;
  /** Their mean over the queries. */
  mean(scores: ArrayLike<number>): number;
}

/** The judgements of a query over its candidates and missed turns. */
type Judged = Omit<JudgedRanking, 'grades'>;

function judgeRow(table: FeatureTable, query: number, missed: Float32Array): Judged {
  const { width, relevantGrade } = table;
  const own = table.grades.subarray(query * width, (query + 1) * width);
  const judged = Float64Array.from([...own, ...missed].filter((grade) => grade > 0)).sort((a, b) => b - a);
  const relevant = judged.filter((grade) => grade >= relevantGrade).length;
  return {
    idealGrades: judged,
    relevantGrade,
    relevant,
    nonrelevant: judged.length - relevant,
    highestGrade: null,
    tokens: null,
    replacements: null,
  };
}

/**
 * The slots of a row's best candidates, equal scores in the order of their slots; returns how many there are. O(C) when
 * scores come in no order.
 */
export function findBestSlots(
  scores: ArrayLike<number>,
  mask: Uint8Array,
  start: number,
  end: number,
  best: Int32Array,
): number {
  let count = 0;
  for (let slot = start; slot < end; slot++) {
    if (mask[slot] === 0) continue;
    const score = scores[slot] as number;
    if (count === best.length && !(score > (scores[best[count - 1]!] as number))) continue;
    let at = count < best.length ? count++ : count - 1;
    for (; at > 0 && score > (scores[best[at - 1]!] as number); at--) best[at] = best[at - 1]!;
    best[at] = slot;
  }
  return count;
}

function assertFinite({ queryIds, width, mask }: FeatureTable, scores: ArrayLike<number>): void {
  if (scores.length !== mask.length)
    throw new DimensionMismatchError('scores of the feature table', mask.length, scores.length);
  for (let pair = 0; pair < mask.length; pair++) {
    if (mask[pair] === 0 || Number.isFinite(scores[pair])) continue;
    const where = `query ${queryIds[Math.floor(pair / width)]}, candidate ${pair % width}`;
    throw new NotFiniteError('score', where, scores[pair] as number);
  }
}

/**
 * A metric by its name, for many scorings of one table: what does not depend on scores is computed once. Relevant turns
 * that the pool misses count in the ideal ranking and as not found. Scores order as everywhere: descending, then by
 * slot in the row.
 *
 * @throws ValidationError for a metric without a cutoff: a table holds pools, not whole rankings.
 */
export function createTableMetric(table: FeatureTable, id: string = VALIDATION_METRIC): TableMetric {
  const metric = parseMetric(id);
  if (metric.cutoff === null)
    throw new ValidationError(`metric of a feature table has no cutoff: ${id}; use one, such as ndcg@10`, { id });
  const { width, mask, grades } = table;
  const offsets = computeMissedOffsets(table.missed);
  const judged = table.queryIds.map((_, query) =>
    judgeRow(table, query, table.missedGrades.subarray(offsets[query], offsets[query + 1])),
  );
  const best = new Int32Array(Math.min(metric.cutoff, width));
  const computeQueryValue = (scores: ArrayLike<number>, query: number) => {
    const count = findBestSlots(scores, mask, query * width, (query + 1) * width, best);
    const ranked = Float64Array.from(best.subarray(0, count), (slot) => grades[slot] as number);
    return metric.compute({ ...(judged[query] as Judged), grades: ranked });
  };
  const computeQueryValues = (scores: ArrayLike<number>) => {
    assertFinite(table, scores);
    return Float64Array.from(judged, (_, query) => computeQueryValue(scores, query));
  };
  const mean = (scores: ArrayLike<number>) => {
    const all = computeQueryValues(scores);
    return all.length === 0 ? 0 : all.reduce((sum, value) => sum + value, 0) / all.length;
  };
  return { id, values: computeQueryValues, mean };
}

const positive = z.number().positive();

const modelOptions = z.discriminatedUnion('name', [
  z.strictObject({
    name: z.literal('linear'),
    /** Signals of the bank; null for all. */
    signals: z.array(signalName).min(1).nullable().default(null),
    nonNegative: z.array(signalName).default([]),
    /** Hand-tuned weight of a standard deviation of each signal, the start; by default bm25 and cosine alike. */
    initial: signalNumbers.nullable().default(null),
  }),
  z.strictObject({
    name: z.literal('trajectory'),
    dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]).default(5),
  }),
]);
/** The model whose numbers are fitted. */
export type ModelOptions = z.output<typeof modelOptions>;

/** Options of learning the weights of users. */
const userOptions = strategyLearningOptions.extend({
  /** Memories that a question is taken to have shown: the best by the weights of its strategy. */
  shown: z.int().min(2).default(50),
});

/** The conversations that each fold holds out. */
export const listedFolds = z.array(z.array(z.string().min(1)).min(1)).min(2);

/** Other data that the weights are tried on, fitted here and there. */
const transferOptions = z.strictObject({
  name: z.string().min(1),
  dataset: datasetOptions,
  /** The steps up to the pool, if they differ from those of the arm. */
  steps: z.array(z.unknown()).min(1).optional(),
  /** Limits its dev queries, of conversations drawn by the seed. */
  limitQueries: z.int().min(2).nullable().default(null),
});

/** The signals of a linear mix, chosen one at a time in place of training a weight for each. */
const selectOptions = z.strictObject({
  method: z.literal('greedy'),
  /** Signals of the mix; of several numbers the inner folds choose one. */
  size: z.union([z.int().min(1), z.array(z.int().min(1)).min(1)]),
  /** Weight of the sum of the squared weights. */
  l2: positive.default(0.001),
});

/** Options of fitting the numbers of a mix on dev, and of measuring the fit. */
export const fitOptions = z.strictObject({
  model: modelOptions.default({ name: 'linear', signals: null, nonNegative: [], initial: null }),
  select: selectOptions.nullable().default(null),
  /** The candidates that signals are standardised over: all of the training rows, or those of each question. */
  normalise: z.enum(NORMALISATIONS).default('pool'),
  /** The inner folds try every combination of losses, penalties and learning rates. */
  loss: z
    .array(z.enum(['listwise', 'infonce']))
    .min(1)
    .default(['listwise', 'infonce']),
  l2: z.array(z.number().nonnegative()).min(1).default([0.0003, 0.003]),
  learningRate: z.array(positive).min(1).default([0.05]),
  /** The largest Euclidean norm of a step's gradient; absent in a resolved config without one. */
  clip: positive.optional(),
  /** The temperature of the softmax in both losses. */
  temperature: positive.default(1),
  /** The metric of early stopping, the inner folds and the searches. */
  metric: z.string().transform(readMetricName).prefault(VALIDATION_METRIC),
  epochs: z.int().min(1).default(60),
  /** Epochs without a better validation after which training stops. */
  patience: z.int().min(1).default(8),
  /** Queries in a step; null for all of them. */
  batchSize: z.int().min(1).nullable().default(128),
  /** Trainings from different starts, whose numbers are averaged. */
  seeds: z.int().min(1).default(3),
  startNoise: z.number().nonnegative().default(0.01),
  /** Folds by conversation: each is scored by weights that have not seen it. */
  folds: z.union([z.literal('leave-one-out'), z.int().min(2), listedFolds]).default(5),
  /** Folds within the others, which choose the hyper-parameters. */
  innerFolds: z.int().min(2).default(3),
  /** Trainings on resampled conversations behind the intervals of the weights; 0 for no intervals. */
  resamples: z.int().min(0).default(100),
  /** True if to leave out signals one family at a time, to measure each. */
  importance: z.boolean().default(true),
  /** True if to exchange signals between candidates, one part at a time, to measure their share of the gain. */
  controls: z.boolean().default(true),
  /** Learns the weights of the signal `strategy` for each user; absent in a resolved config that does not. */
  users: userOptions.optional(),
  transfer: z.array(transferOptions).prefault([]),
});
/** A checked fit with every default in place. */
export type FitOptions = z.output<typeof fitOptions>;

/** A mix whose numbers are fitted. */
export const fittedMixOptions = z.strictObject({
  /** The bank that the signals are of. */
  signals: signalBankOptions.prefault({}),
  fit: fitOptions,
});
export type FittedMix = z.output<typeof fittedMixOptions>;
