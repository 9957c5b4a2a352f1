import { z } from 'zod';
import { freezeDeeply } from '../../core/values/frozen.ts';
import { createTokenSchema } from '../../model/text/token-options.ts';
import type { TokenOptions } from '../../model/text/tokens.ts';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';
import { BM25_VARIANTS, type Bm25Parameters, type Bm25VariantName } from './bm25-variants.ts';

/** The parameters k1 and b of BM25, its variant, and how texts become words. */
export interface Bm25Options extends Bm25Parameters, TokenOptions {
  readonly variant: Bm25VariantName;
}

/** BM25 as Lucene computes it: k1 1.2, b .75, every word as written. */
export const BM25_DEFAULTS: Bm25Options = freezeDeeply({
  k1: 1.2,
  b: 0.75,
  variant: 'lucene',
  dropStopWords: false,
  stem: false,
});

const options = z.strictObject({
  index: z.literal('bm25'),
  k: candidateCount,
  k1: z.number().min(0).default(BM25_DEFAULTS.k1),
  b: z.number().min(0).max(1).default(BM25_DEFAULTS.b),
  variant: z.enum(Object.keys(BM25_VARIANTS) as [Bm25VariantName, ...Bm25VariantName[]]).default(BM25_DEFAULTS.variant),
  ...createTokenSchema(BM25_DEFAULTS),
});
/** The index `bm25` of a config: {@link Bm25Options} and the number k of candidates. */
export type Bm25IndexOptions = z.output<typeof options>;

export const bm25: IndexDefinition<typeof options> = {
  options,
  reads: ['texts', 'times'],
  description: "the turns that share words with the query, with document frequencies of the query's moment",
};
