import { createRandom } from '../src/core/numbers/random.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';

/** Directions that differ; a longer memory has them again, with other lengths and salience. */
const DIRECTIONS = 8191;

/** Records whose first n are the smaller memories. */
export interface ConservationWorkload {
  readonly dimension: number;
  /** Row-major [n, D], lengths between 0.5 and 1.5. */
  readonly embeddings: Float32Array;
  /** [n], log-normal. */
  readonly salience: Float64Array;
}

export function drawConservationWorkload(count: number, dimension: number, seed: number): ConservationWorkload {
  const directions = drawClusteredVectors(Math.min(count, DIRECTIONS), dimension, seed, 'records');
  const source = createRandom(seed, 'conservation');
  const embeddings = new Float32Array(count * dimension);
  for (let record = 0, at = 0; record < count; record++) {
    const length = 0.5 + source.uniform();
    for (let from = (record % DIRECTIONS) * dimension, end = from + dimension; from < end; from++, at++)
      embeddings[at] = directions[from]! * length;
  }
  return { dimension, embeddings, salience: Float64Array.from({ length: count }, () => Math.exp(source.drawNormal())) };
}

/** M, E and I of definition 4.5. */
export interface Figures {
  readonly magnitude: number;
  readonly energy: number;
  readonly information: number;
}

/** A sum with what rounding left of each addition, so that it is exact to the last place of a float64 (Neumaier). */
class ExactSum {
  #sum = 0;
  #remainder = 0;

  add(term: number): void {
    const total = this.#sum + term;
    this.#remainder += Math.abs(this.#sum) >= Math.abs(term) ? this.#sum - total + term : term - total + this.#sum;
    this.#sum = total;
  }

  get value(): number {
    return this.#sum + this.#remainder;
  }
}

function sumExactly(count: number, term: (i: number) => number): number {
  const sum = new ExactSum();
  for (let i = 0; i < count; i++) sum.add(term(i));
  return sum.value;
}

function computeRowLengths({ embeddings, dimension }: ConservationWorkload, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => {
    let square = 0;
    for (let at = i * dimension; at < (i + 1) * dimension; at++) square += embeddings[at]! ** 2;
    return Math.sqrt(square);
  });
}

function withoutEnergy(
  load: ConservationWorkload,
  lengths: Float64Array,
): { shares: Float64Array } & Omit<Figures, 'energy'> {
  const total = sumExactly(lengths.length, (i) => load.salience[i]!);
  const shares = Float64Array.from(lengths, (_, i) => load.salience[i]! / total);
  return {
    shares,
    magnitude: sumExactly(lengths.length, (i) => shares[i]! * lengths[i]!),
    information: -sumExactly(lengths.length, (i) => shares[i]! * Math.log(shares[i]!)),
  };
}

/** The reference: every sum exact, and energy by one sum for each dimension. */
export function computeExactFigures(load: ConservationWorkload, count: number): Figures {
  const { dimension, embeddings } = load;
  const lengths = computeRowLengths(load, count);
  const { shares, ...rest } = withoutEnergy(load, lengths);
  const sums = Array.from({ length: dimension }, () => new ExactSum());
  for (let i = 0; i < count; i++) {
    const factor = shares[i]! / lengths[i]!;
    for (let d = 0; d < dimension; d++) sums[d]!.add(factor * embeddings[i * dimension + d]!);
  }
  return { ...rest, energy: 0.5 * sumExactly(dimension, (d) => sums[d]!.value ** 2) };
}

/** The definition as it stands, `E = 1/2 sum_ij alpha_i alpha_j cos(e_i, e_j)` over all pairs, O(n^2 D). */
export function computeDefinedFigures(load: ConservationWorkload, count: number): Figures {
  const { dimension, embeddings } = load;
  const lengths = computeRowLengths(load, count);
  const { shares, ...rest } = withoutEnergy(load, lengths);
  let energy = 0;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      let product = 0;
      for (let d = 0; d < dimension; d++) product += embeddings[i * dimension + d]! * embeddings[j * dimension + d]!;
      energy += (shares[i]! * shares[j]! * product) / (lengths[i]! * lengths[j]!);
    }
  }
  return { ...rest, energy: energy / 2 };
}

/** The largest difference of the three, relative to the figure itself. */
export function measureRelativeError(got: Figures, exact: Figures): number {
  const errors = (['magnitude', 'energy', 'information'] as const).map(
    (name) => Math.abs(got[name] - exact[name]) / Math.abs(exact[name]),
  );
  return Math.max(...errors); // NaN comes through
}
