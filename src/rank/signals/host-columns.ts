import { computeExp32, computeSigmoid32 } from '../../core/numbers/float32.ts';
import { ensureBackend, prefersPlainProducts } from '../../core/tensors/backend.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';
import type { LogitOptions } from '../../ops/attention/options.ts';
import { assertMix } from '../../ops/attention/unified-attention.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import type { AttentionOptions } from './signal-options.ts';
import type { Column, PoolRows } from './stage.ts';

/**
 * True if columns are computed by loops of the host, with the bits of `wasm`: on `wasm` and `cpu`, whatever the size of
 * the pool, since their kernels are loops on one core too. On other backends the bits differ, so tensors compute there.
 */
export async function computesOnHost(): Promise<boolean> {
  await ensureBackend();
  return prefersPlainProducts();
}

/** Writes the places `start` to `end` of a column, those of one query. */
export type FillRow = (column: Column, start: number, end: number) => void;

/** A column query by query. Padding is 0, whatever it is computed to. */
export async function computeHostColumn({ queryCount, width, positions }: PoolRows, fill: FillRow): Promise<Column> {
  const column = new Float32Array(positions.length);
  const pause = createEventBreaks();
  for (let query = 0; query < queryCount; query++) {
    await pause();
    fill(column, query * width, (query + 1) * width);
  }
  for (let pair = 0; pair < positions.length; pair++) if ((positions[pair] as number) < 0) column[pair] = 0;
  return column;
}

/**
 * Trajectory distances, as `trajectoryDistance` computes them of what `keepCompared` leaves: at a cold start the
 * temporal coordinate alone counts.
 *
 * @param weights [M]
 */
export function fillDistances(
  { names, candidates, queries, coldStart }: QueryFrames,
  weights: readonly number[],
): FillRow {
  const rounded = Float32Array.from(weights);
  const [size, temporal] = [names.length, names.indexOf('temporal')];
  return (column, start, end) => {
    for (let pair = start, at = start * size; pair < end; pair++) {
      const isCold = coldStart[pair] === 1;
      let sum = 0;
      for (let i = 0; i < size; i++, at++) {
        if (isCold && i !== temporal) continue;
        const difference = Math.fround((candidates[at] as number) - (queries[at] as number));
        sum = Math.fround(sum + Math.fround(Math.fround(difference * difference) * (rounded[i] as number)));
      }
      column[pair] = Math.sqrt(sum);
    }
  };
}

/** exp(-D / sigma), as `trajectoryScore` computes it. */
export function fillTrajectory(distances: Column, sigma: number): FillRow {
  const factor = Math.fround(-1 / sigma);
  return (column, start, end) => {
    for (let pair = start; pair < end; pair++)
      column[pair] = computeExp32(Math.fround((distances[pair] as number) * factor));
  };
}

/** `attentionLogits` of a query. */
function fillLogits(cosine: Column, distances: Float32Array, { combine, decay, temperature }: LogitOptions): FillRow {
  const half = Math.fround(0.5 / temperature);
  const [rise, fall] = [Math.fround(decay), Math.fround(-decay)];
  const isMultiplicative = combine === 'multiplicative';
  return (logits, start, end) => {
    for (let pair = start; pair < end; pair++) {
      const semantic = Math.fround(Math.fround((cosine[pair] as number) + 1) * half);
      const distance = distances[pair] as number;
      logits[pair] = isMultiplicative
        ? Math.fround(semantic * computeExp32(Math.fround(distance * fall)))
        : Math.fround(semantic - Math.fround(distance * rise));
    }
  };
}

/** Softmax of a query's logits, in their place. */
function normaliseRow(logits: Column, start: number, end: number): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let pair = start; pair < end; pair++) most = Math.max(most, logits[pair] as number);
  let sum = 0;
  for (let pair = start; pair < end; pair++) {
    const power = computeExp32(Math.fround((logits[pair] as number) - most));
    logits[pair] = power;
    sum = Math.fround(sum + power);
  }
  for (let pair = start; pair < end; pair++) logits[pair] = (logits[pair] as number) / sum;
}

/** Columns that attention compares, [Q, C] each. */
export interface AttentionInputs {
  /** From candidate to query, on the ring or the line. */
  readonly steps: Float32Array;
  /** So low where the pool is padded that nothing falls on it. */
  readonly cosine: Column;
  /** Read by directed IRCP alone. */
  readonly logMasses?: Column | undefined;
  /** Trajectory distances, of TPO alone. */
  readonly distances: Column | null;
}

/** Makes the scores of a mechanism of a query's logits, in their place. */
function fillWeights(mechanism: AttentionOptions['mechanism'], logMasses: Column | undefined): FillRow {
  if (mechanism !== 'ircp' || logMasses === undefined) return normaliseRow;
  return (logits, start, end) => {
    for (let pair = start; pair < end; pair++)
      logits[pair] = computeSigmoid32(Math.fround((logits[pair] as number) - (logMasses[pair] as number)));
  };
}

/** Scores by the mechanism of the options, as tensors give them. */
export function fillAttention(inputs: AttentionInputs, options: AttentionOptions): FillRow {
  const { steps, cosine, logMasses, distances } = inputs;
  const { mechanism, mix } = options;
  if (mechanism !== 'unified') {
    const fill = fillLogits(cosine, mechanism === 'tpo' ? (distances as Column) : steps, options);
    const weigh = fillWeights(mechanism, logMasses);
    return (column, start, end) => {
      fill(column, start, end);
      weigh(column, start, end);
    };
  }
  assertMix(mix);
  const [rcp, ircp, tpo] = (['rcp', 'ircp', 'tpo'] as const).map((name) => ({
    weigh: fillWeights(name, logMasses),
    scores: new Float32Array(cosine.length),
    share: Math.fround(mix[name]),
  })) as [Part, Part, Part];
  const fillBySteps = fillLogits(cosine, steps, options);
  const fillByDistances = fillLogits(cosine, distances as Column, options);
  return (column, start, end) => {
    fillBySteps(rcp.scores, start, end);
    ircp.scores.set(rcp.scores.subarray(start, end), start);
    fillByDistances(tpo.scores, start, end);
    for (const { weigh, scores } of [rcp, ircp, tpo]) weigh(scores, start, end);
    const read = ({ scores, share }: Part, pair: number) => Math.fround((scores[pair] as number) * share);
    for (let pair = start; pair < end; pair++)
      column[pair] = Math.fround(Math.fround(read(rcp, pair) + read(ircp, pair)) + read(tpo, pair));
  };
}

interface Part {
  readonly weigh: FillRow;
  readonly scores: Column;
  readonly share: number;
}
