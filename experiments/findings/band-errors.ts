import { viewRow } from '../../src/core/tensors/rows.ts';
import { computeReferenceRow } from '../../src/ops/attention/attention-row.oracle.ts';
import { bandedRingAttention } from '../../src/ops/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../../src/ops/attention/blockwise-ring-attention.ts';
import {
  PROPAGATION_PRESETS,
  RING_ATTENTION_DEFAULTS,
  type RingAttentionOptions,
} from '../../src/ops/attention/options.ts';
import { spreadRingPositions } from './conversation-weights.ts';
import type { MeasuredCorpus } from './measured-corpus.ts';
import type { FindingsSettings } from './settings.ts';

/** Attention over the whole corpus as one conversation, banded or dense. */
export interface BandError {
  readonly attention: string;
  /** Null of the dense form. */
  readonly band: {
    readonly tolerance: number;
    /** W */
    readonly width: number;
    /** The proven bound of the error. */
    readonly bound: number;
  } | null;
  /** The greatest Euclidean distance of a looked at row from the same row in float64. */
  readonly observed: number;
}

/** Attentions that are banded, by name. */
const ATTENTIONS: Readonly<Record<string, RingAttentionOptions>> = {
  published: RING_ATTENTION_DEFAULTS,
  'published, looking back': { ...RING_ATTENTION_DEFAULTS, direction: 'causal' },
  'framework default': PROPAGATION_PRESETS.framework,
};

/**
 * Band widths from tolerances, with the error that is proven and the one that is found, on the corpus in the order of time; and the error of the dense form,
 * which is what float32 rounds.
 */
export async function measureBandErrors(
  { corpus, embeddings, dimension }: MeasuredCorpus,
  { tolerances, sampledMessages }: Pick<FindingsSettings, 'tolerances' | 'sampledMessages'>,
): Promise<BandError[]> {
  const inputs = { turns: corpus.size, queries: embeddings, keys: embeddings, values: embeddings };
  const sampled = spreadRingPositions(corpus.size, sampledMessages);
  const errors: BandError[] = [];
  for (const [attention, options] of Object.entries(ATTENTIONS)) {
    const exact = sampled.map((ringPosition) => computeReferenceRow(inputs, options, ringPosition));
    const observe = (output: Float32Array) =>
      exact.reduce(
        (most, row, k) => Math.max(most, measureRowDistance(row, viewRow(output, dimension, sampled[k] as number))),
        0,
      );
    for (const tolerance of tolerances) {
      const { output, bandWidth: width, errorBound: bound } = await bandedRingAttention(inputs, options, { tolerance });
      errors.push({ attention, band: { tolerance, width, bound }, observed: observe(output) });
    }
    errors.push({ attention, band: null, observed: observe(await blockwiseRingAttention(inputs, options)) });
  }
  return errors;
}

function measureRowDistance(a: Float64Array, b: Float32Array): number {
  let squares = 0;
  for (let d = 0; d < a.length; d++) squares += ((a[d] as number) - (b[d] as number)) ** 2;
  return Math.sqrt(squares);
}
