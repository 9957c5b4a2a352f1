import { z } from 'zod';
import { freezeDeeply } from '../../core/values/once.ts';
import { createTokenSchema, type TokenOptions } from '../../model/text/tokens.ts';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';

/** k1 bounds how much a repeated term counts, b how much long turns are discounted. */
export interface Bm25Parameters {
  readonly k1: number;
  readonly b: number;
}

/** One way of writing BM25: a term's score is its weight times its saturated frequency. */
export interface Bm25Variant {
  /** The weight of a term that `frequency` of `count` turns hold. */
  idf(count: number, frequency: number): number;
  /** The saturated frequency of `tf` occurrences in a turn whose length is `ratio` times the average. */
  saturate(tf: number, ratio: number, parameters: Bm25Parameters): number;
}

const normaliseLength = (ratio: number, { b }: Bm25Parameters) => 1 - b + b * ratio;
const saturatePlainly = (tf: number, ratio: number, p: Bm25Parameters) => tf / (p.k1 * normaliseLength(ratio, p) + tf);
const saturateScaled = (tf: number, ratio: number, p: Bm25Parameters) => (p.k1 + 1) * saturatePlainly(tf, ratio, p);

/** Added to the length-normalised frequency by bm25l, and to the saturated one by bm25+, so that no long turn is scored as if it lacked the term. */
const DELTA_L = 0.5;
const DELTA_PLUS = 1;

/**
 * The variants that Kamphuis, de Vries, Boytsov, Lin 2020, "Which BM25 do you mean? A large-scale reproducibility study of scoring variants", distinguish. In
 * `robertson` the weight of a term that more than half of the turns hold would be negative; it is 0 here, so that 0 is the least score of every variant.
 */
export const BM25_VARIANTS = freezeDeeply({
  robertson: {
    idf: (count, frequency) => Math.max(0, Math.log((count - frequency + 0.5) / (frequency + 0.5))),
    saturate: saturatePlainly,
  },
  lucene: {
    idf: (count, frequency) => Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)),
    saturate: saturatePlainly,
  },
  atire: { idf: (count, frequency) => Math.log(count / frequency), saturate: saturateScaled },
  bm25l: {
    idf: (count, frequency) => Math.log((count + 1) / (frequency + 0.5)),
    saturate(tf, ratio, parameters) {
      const shifted = tf / normaliseLength(ratio, parameters) + DELTA_L;
      return ((parameters.k1 + 1) * shifted) / (parameters.k1 + shifted);
    },
  },
  'bm25+': {
    idf: (count, frequency) => Math.log((count + 1) / frequency),
    saturate: (tf, ratio, parameters) => saturateScaled(tf, ratio, parameters) + DELTA_PLUS,
  },
} as const satisfies Record<string, Bm25Variant>);

/** A published variant of BM25, which differ in the inverse document frequency and the saturation of counts. */
export type Bm25VariantName = keyof typeof BM25_VARIANTS;

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
