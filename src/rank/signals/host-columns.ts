import { openFloat32Row } from '../../core/numbers/float32.ts';
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
  const row = openFloat32Row();
  return (column, start, end) => {
    row.reserve(end - start);
    const { numbers } = row;
    for (let pair = start; pair < end; pair++) numbers[pair - start] = (distances[pair] as number) * factor;
    row.exp(end - start);
    column.set(numbers.subarray(0, end - start), start);
  };
}

/** Writes numbers of the places `start` to `end`, those of one query, to the row that all share. */
type WriteRow = (start: number, end: number) => void;

/** `attentionLogits` of a query. */
function writeLogits(cosine: Column, distances: Float32Array, { combine, decay, temperature }: LogitOptions): WriteRow {
  const half = Math.fround(0.5 / temperature);
  const [rise, fall] = [Math.fround(decay), Math.fround(-decay)];
  const row = openFloat32Row();
  const weigh = (pair: number) => Math.fround(Math.fround((cosine[pair] as number) + 1) * half);
  if (combine === 'additive')
    return (start, end) => {
      row.reserve(end - start);
      const { numbers } = row;
      for (let pair = start; pair < end; pair++)
        numbers[pair - start] = weigh(pair) - Math.fround((distances[pair] as number) * rise);
    };
  return (start, end) => {
    row.reserve(end - start);
    const { numbers } = row;
    for (let pair = start; pair < end; pair++) numbers[pair - start] = (distances[pair] as number) * fall;
    row.exp(end - start);
    for (let pair = start; pair < end; pair++) numbers[pair - start] = weigh(pair) * (numbers[pair - start] as number);
  };
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
function weighLogits(mechanism: AttentionOptions['mechanism'], logMasses: Column | undefined): WriteRow {
  const row = openFloat32Row();
  if (mechanism !== 'ircp' || logMasses === undefined) return (start, end) => row.softmax(end - start);
  return (start, end) => {
    const { numbers } = row;
    for (let pair = start; pair < end; pair++)
      numbers[pair - start] = (numbers[pair - start] as number) - (logMasses[pair] as number);
    row.sigmoid(end - start);
  };
}

/** Scores by the mechanism of the options, as tensors give them. */
export function fillAttention(inputs: AttentionInputs, options: AttentionOptions): FillRow {
  const { steps, cosine, logMasses, distances } = inputs;
  const { mechanism, mix } = options;
  const row = openFloat32Row();
  if (mechanism !== 'unified') {
    const write = writeLogits(cosine, mechanism === 'tpo' ? (distances as Column) : steps, options);
    const weigh = weighLogits(mechanism, logMasses);
    return (column, start, end) => {
      write(start, end);
      weigh(start, end);
      column.set(row.numbers.subarray(0, end - start), start);
    };
  }
  assertMix(mix);
  const [writeBySteps, writeByDistances] = [steps, distances as Column].map((compared) =>
    writeLogits(cosine, compared, options),
  ) as [WriteRow, WriteRow];
  const [rcp, ircp, tpo] = (['rcp', 'ircp', 'tpo'] as const).map((name) => ({
    weigh: weighLogits(name, logMasses),
    share: Math.fround(mix[name]),
  })) as [Part, Part, Part];
  const addPart = ({ weigh, share }: Part, column: Column, start: number, end: number) => {
    weigh(start, end);
    const { numbers } = row;
    for (let pair = start; pair < end; pair++)
      column[pair] = (column[pair] as number) + Math.fround((numbers[pair - start] as number) * share);
  };
  return (column, start, end) => {
    writeBySteps(start, end);
    const logits = row.numbers.slice(0, end - start); // of RCP and of IRCP
    column.fill(0, start, end);
    addPart(rcp, column, start, end);
    row.numbers.set(logits);
    addPart(ircp, column, start, end);
    writeByDistances(start, end);
    addPart(tpo, column, start, end);
  };
}

interface Part {
  readonly weigh: WriteRow;
  readonly share: number;
}
