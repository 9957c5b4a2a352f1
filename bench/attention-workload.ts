import { getOrCompute } from '../src/core/values/once.ts';
import { computeReferenceRow } from '../src/ops/attention/attention-row.oracle.ts';
import type { AttentionRows } from '../src/ops/attention/attention-rows.ts';
import { RING_ATTENTION_DEFAULTS } from '../src/ops/attention/options.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';

/** The attention that is measured. */
export const OPTIONS = RING_ATTENTION_DEFAULTS;

export interface Settings {
  readonly minimum: number;
  readonly maximum: number;
  readonly maximumDense: number;
  readonly maximumTorch: number;
  readonly dimension: number;
  readonly tolerance: number;
  readonly samples: number;
  readonly repeats: number;
  readonly seed: number;
}

/** Some of the same conversation's turns, the first and the last among them. */
function pickSampledTurns(turns: number, count: number): number[] {
  const last = Math.min(count, turns) - 1;
  return Array.from({ length: last + 1 }, (_, i) => (last === 0 ? 0 : Math.round((i * (turns - 1)) / last)));
}

/** One conversation, whose first turns are the shorter ones, and the exact rows that outputs are compared with. */
export class Workload {
  readonly settings: Settings;
  readonly embeddings: Float32Array;
  readonly #exact = new Map<number, Float64Array[]>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.embeddings = drawClusteredVectors(settings.maximum, settings.dimension, settings.seed, 'turns');
  }

  /** Sizes from the least, doubled, up to `most`. */
  listDoubledSizes(most: number): number[] {
    const { minimum, maximum } = this.settings;
    const sizes: number[] = [];
    for (let turns = minimum; turns <= Math.min(maximum, most); turns *= 2) sizes.push(turns);
    return sizes;
  }

  buildWorkloadRows(turns: number): AttentionRows {
    const rows = this.embeddings.subarray(0, turns * this.settings.dimension);
    return { turns, queries: rows, keys: rows, values: rows };
  }

  pickSamples(turns: number): number[] {
    return pickSampledTurns(turns, this.settings.samples);
  }

  /** @param rowOf the k-th sampled row */
  measureRowError(turns: number, rowOf: (sample: number, k: number) => Float32Array): number {
    const samples = this.pickSamples(turns);
    const exact = getOrCompute(this.#exact, turns, () =>
      samples.map((i) => computeReferenceRow(this.buildWorkloadRows(turns), OPTIONS, i)),
    );
    const errors = samples.flatMap((sample, k) => {
      const row = rowOf(sample, k);
      return [...exact[k]!].map((value, d) => Math.abs(value - row[d]!));
    });
    return errors.reduce((a, b) => Math.max(a, b), 0); // NaN comes through
  }

  measureOutputError(turns: number, output: Float32Array): number {
    const { dimension } = this.settings;
    return this.measureRowError(turns, (i) => output.subarray(i * dimension, (i + 1) * dimension));
  }
}
