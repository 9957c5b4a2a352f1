import { z } from 'zod';
import { WEIGHT_SUFFIXES, type WeightType } from '../../index/encoders/transformers/model-files.ts';
import { lateScoring } from '../../index/late/late-options.ts';
import { selectedCount } from '../../ops/selection/selection.ts';
import { listGraphRelations } from '../signals/turn-concepts.ts';
import { mentionsSignal } from './mentions.ts';

/** The best K candidates of each of B queries. */
export interface TopTurns {
  /** Row-major [B, K] corpus positions, best first, -1 where a query has fewer. */
  readonly positions: Int32Array;
  /** K */
  readonly depth: number;
}

/**
 * Scores the best candidates of B queries of a workspace, from query `first` on.
 *
 * @returns row-major [B, K], 0 where there is no candidate.
 */
export type ScoreTop = (top: TopTurns, first: number) => Promise<Float32Array>;

/** What every reranking by a column has. */
const columnOptions = {
  k: selectedCount,
  /** Weight of the column against relevance, each as a share of its largest value among the candidates. */
  weight: z.number().min(0).max(1).default(1),
};

const nodeDistanceOptions = z.strictObject({ method: z.literal('node-distance'), ...columnOptions });

export const nodeDistance = {
  options: nodeDistanceOptions,
  description: 'the candidates nearest in the concept graph to the best ten by bm25 and cosine',
  listColumn: () => listGraphRelations().distance(null),
};

const mentionsOptions = z.strictObject({
  method: z.literal('mentions'),
  ...columnOptions,
  among: z.enum(['candidates', 'turns']).default('candidates'),
});

export const mentions = {
  options: mentionsOptions,
  description: 'the candidates whose concepts are mentioned most by the other candidates, or by all earlier turns',
  listColumn: ({ among }: z.output<typeof mentionsOptions>) => mentionsSignal(among),
};

const options = z.strictObject({
  method: z.literal('cross-encoder'),
  ...columnOptions,
  /** A folder with the ONNX weights of a model that scores a pair of texts; nothing is downloaded. */
  model: z.string().min(1),
  dtype: z.enum(Object.keys(WEIGHT_SUFFIXES) as [WeightType, ...WeightType[]]).default('fp32'),
  /** Tokens of query and turn together; what is longer is cut. */
  maxTokens: z.int().min(8).default(512),
  batchSize: z.int().min(1).default(16),
});
/** The folder of a cross-encoder and how its pairs are cut and batched. */
export type CrossEncoderOptions = z.output<typeof options>;

export const crossEncoder = {
  options,
  description:
    'the candidates that a model of pairs of texts scores highest, by the optional package @huggingface/transformers',
};

const lateOptions = z.strictObject({ method: z.literal('late'), ...columnOptions, ...lateScoring });
/** Options of comparing the tokens of a query with those of its best candidates. */
export type LateRerankingOptions = z.output<typeof lateOptions>;

export const late = {
  options: lateOptions,
  description:
    'the candidates whose tokens are nearest to those of the query, each token standardised over the candidates',
};
