import { z } from 'zod';
import { sumsToOne } from '../../core/validation/validation.ts';
import { outcomePool } from '../outcomes/outcome-pool.ts';

const outcome = z.strictObject({
  method: z.literal('outcome'),
  /** The factor of the outcome, from 0. */
  alpha: z.number().min(0).default(0.5),
  /** Whose mean the outcome of a candidate is: its outcome, later observations, or both. */
  pool: outcomePool.default('both'),
});

const recency = z.strictObject({
  method: z.literal('recency'),
  /** The rate of decay for each day of age, from 0. */
  lambda: z.number().min(0).default(0.01),
});

const mmr = z.strictObject({
  method: z.literal('mmr'),
  /** Weight of relevance against novelty. */
  lambda: z.number().min(0).max(1).default(0.7),
});

const single = z.discriminatedUnion('method', [outcome, recency, mmr]);

const composite = z.strictObject({
  method: z.literal('composite'),
  /** The rerankers that are combined; their weights sum to 1. */
  of: z
    .array(z.strictObject({ weight: z.number().min(0), reranker: single }))
    .min(1)
    .refine(
      (parts) =>
        sumsToOne(
          parts.map(({ weight }) => weight),
          0.01,
        ),
      'weights that sum to 1',
    ),
});

/** How the candidates of a query get their final order. */
export const rerankerOptions = z.discriminatedUnion('method', [outcome, recency, mmr, composite]);
/** The options of one reranker, with every default written out. */
export type RerankerOptions = z.output<typeof rerankerOptions>;
/** The options of a reranker that is no combination. */
export type SingleRerankerOptions = z.output<typeof single>;
