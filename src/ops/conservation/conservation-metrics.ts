import { attachDisplay, buildTableBundle } from '../../core/display/display.ts';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';

/** The metrics that are shown. */
type ShownMetrics = Readonly<
  Record<'count' | 'magnitude' | 'energy' | 'coherence' | 'information' | 'informationBits', number>
>;

/** Lets a notebook show the metrics of a memory as a row of a table. @returns the same object. */
function displayConservation<T extends ShownMetrics>(metrics: T): T {
  return attachDisplay(metrics, ({ count, magnitude, energy, coherence, information, informationBits }) =>
    buildTableBundle([
      { records: count, magnitude, energy, coherence, 'information (nats)': information, bits: informationBits },
    ]),
  );
}

/**
 * The state of a memory, in three figures and their other units (definition 4.5 of diomande2026ragpp). A memory without a record has all of them 0.
 */
export interface ConservationMetrics {
  /** n, the records counted. */
  readonly count: number;
  /** `M = sum_i alpha_i |e_i|` */
  readonly magnitude: number;
  /** `E = 1/2 sum_ij alpha_i alpha_j cos(e_i, e_j)`, in [0, 1/2] for all embeddings. */
  readonly energy: number;
  /** `2 E`, in [0, 1]: the length of the mean direction, squared. 1 if all directions are equal. */
  readonly coherence: number;
  /** `I = -sum_i alpha_i ln alpha_i` in nats, at most ln n. */
  readonly information: number;
  /** The same in bits. */
  readonly informationBits: number;
}

/** The sums over records of raw salience w and embedding e that all three metrics follow from. */
interface ConservationSums {
  readonly count: number;
  /** `sum w` */
  readonly salience: number;
  /** `sum w ln w` */
  readonly salienceLog: number;
  /** `sum w |e|` */
  readonly length: number;
  /** [D] `sum w e / |e|` */
  readonly direction: Float64Array;
}

/**
 * The metrics from the sums; salience is normalised here, by `I = ln S - (sum w ln w) / S`.
 *
 * @throws ValidationError for records without salience, NotFiniteError if a sum overflows.
 */
export function deriveMetrics({
  count,
  salience,
  salienceLog,
  length,
  direction,
}: ConservationSums): ConservationMetrics {
  if (count === 0)
    return displayConservation({ count, magnitude: 0, energy: 0, coherence: 0, information: 0, informationBits: 0 });
  for (const [name, sum] of Object.entries({ salience, salienceLog, length }))
    if (!Number.isFinite(sum)) throw new NotFiniteError(`sum of ${name}`, `${count} records`, sum);
  if (!(salience > 0))
    throw new ValidationError(
      `salience of ${count} records has no positive sum: ${salience}; give a record a salience above 0`,
      { count },
    );
  let coherence = 0;
  for (const value of direction) coherence += (value / salience) ** 2;
  const information = Math.max(Math.log(salience) - salienceLog / salience, 0); // rounding may go below
  return displayConservation({
    count,
    magnitude: length / salience,
    energy: coherence / 2,
    coherence,
    information,
    informationBits: information / Math.LN2,
  });
}

/**
 * @param where names the record, for the error.
 * @throws NotFiniteError or ValidationError for a salience that is negative or not finite.
 */
export function assertSalience(salience: number, where: string): void {
  if (!Number.isFinite(salience)) throw new NotFiniteError('salience', where, salience);
  if (salience < 0)
    throw new ValidationError(`salience of ${where} is negative: ${salience}; pass a number from 0`, { salience });
}

/** `w ln w`, 0 at 0. */
export function multiplyByOwnLog(salience: number): number {
  return salience === 0 ? 0 : salience * Math.log(salience);
}

/**
 * `|e|`
 *
 * @param where names the record, for the error.
 * @throws NotFiniteError for an embedding that is not finite.
 */
export function computeEmbeddingLength(embedding: ArrayLike<number>, where: string): number {
  let squares = 0;
  for (let i = 0; i < embedding.length; i++) squares += (embedding[i] as number) ** 2;
  if (!Number.isFinite(squares)) throw new NotFiniteError('squared length of the embedding', where, squares);
  return Math.sqrt(squares);
}

/** The sums of records that are added one after the other, O(D) each, in O(D) numbers. */
export class GrowingSums {
  readonly #sums: { count: number; salience: number; salienceLog: number; length: number };
  readonly #direction: Float64Array;

  /** @param dimension D of each embedding. */
  constructor(dimension: number) {
    this.#sums = { count: 0, salience: 0, salienceLog: 0, length: 0 };
    this.#direction = new Float64Array(dimension);
  }

  /** @throws ValidationError for a negative salience, NotFiniteError for what is not finite. */
  add({ embedding, salience }: { readonly embedding: Float32Array | Float64Array; readonly salience: number }): void {
    const sums = this.#sums;
    const where = `record ${sums.count++}`;
    assertSalience(salience, where);
    const length = computeEmbeddingLength(embedding, where);
    sums.salience += salience;
    sums.salienceLog += multiplyByOwnLog(salience);
    sums.length += salience * length;
    if (length === 0) return;
    const direction = this.#direction;
    for (let i = 0; i < direction.length; i++) direction[i]! += salience * ((embedding[i] as number) / length);
  }

  /** Multiplies the saliences of the records so far by a number from 0 to 1. */
  fade(factor: number): void {
    const sums = this.#sums;
    sums.salienceLog = factor * sums.salienceLog + multiplyByOwnLog(factor) * sums.salience;
    sums.salience *= factor;
    sums.length *= factor;
    for (let i = 0; i < this.#direction.length; i++) this.#direction[i]! *= factor;
  }

  /** @throws ValidationError for records without salience, NotFiniteError if a sum overflows. */
  deriveMetrics(): ConservationMetrics {
    return deriveMetrics({ ...this.#sums, direction: this.#direction });
  }
}

/**
 * As {@link computeConservationMetrics}, of records one after the other.
 *
 * @param dimension D of each embedding.
 * @throws as there.
 */
export function measureConservation(
  records: Iterable<{ readonly embedding: Float32Array | Float64Array; readonly salience: number }>,
  dimension: number,
): ConservationMetrics {
  const sums = new GrowingSums(dimension);
  for (const record of records) sums.add(record);
  return sums.deriveMetrics();
}

/**
 * The metrics of T records, in float64 on the host, O(T D): sums over T are past what float32 keeps well before T is a hundred thousand. A zero embedding has
 * length 0 and no direction, so that its cosine is 0 even with itself.
 *
 * Definition 4.5 of diomande2026ragpp; `E = 1/2 |sum_i alpha_i e_i / |e_i||^2`, without its double sum.
 *
 * @param embeddings row-major [T, D]
 * @param salience [T] not negative; only the shares of its sum matter
 * @throws ValidationError for a negative salience or one that is 0 throughout, NotFiniteError for what is not finite, DimensionMismatchError for embeddings that
 * are not T rows.
 */
export function computeConservationMetrics(
  embeddings: Float32Array | Float64Array,
  salience: ArrayLike<number>,
): ConservationMetrics {
  const count = salience.length;
  const dimension = count === 0 ? 0 : embeddings.length / count;
  if (!Number.isInteger(dimension) || (count === 0 && embeddings.length > 0))
    throw new DimensionMismatchError('embeddings', `${count} rows of one width`, `${embeddings.length} numbers`);
  return measureConservation(
    Array.from({ length: count }, (_, record) => ({
      embedding: embeddings.subarray(record * dimension, (record + 1) * dimension),
      salience: salience[record] as number,
    })),
    dimension,
  );
}
