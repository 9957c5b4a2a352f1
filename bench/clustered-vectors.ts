import { createRandom } from '../src/core/numbers/random.ts';

const CENTRES = 100;
/** Length of the noise against that of the centre. */
const NOISE = 3;

/**
 * Unit vectors around random centres: two of one cluster have a cosine of about 0.1, two of different clusters of about 0. Embeddings have neighbourhoods, which
 * uniform directions in hundreds of dimensions lack; much less noise would make every recall 1.
 *
 * @returns row-major [count, dimension]
 */
export function drawClusteredVectors(count: number, dimension: number, seed: number, name: string): Float32Array {
  const centreStream = createRandom(seed, 'centres');
  const centres = Array.from({ length: CENTRES }, () =>
    scaleToUnit(Float64Array.from({ length: dimension }, () => centreStream.drawNormal())),
  );
  const stream = createRandom(seed, name);
  const vectors = new Float32Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const centre = centres[stream.integer(centres.length)]!;
    const noise = scaleToUnit(Float64Array.from({ length: dimension }, () => stream.drawNormal()));
    vectors.set(scaleToUnit(centre.map((value, d) => value + NOISE * noise[d]!)), row * dimension);
  }
  return vectors;
}

/** The vector divided by its length. */
export function scaleToUnit(vector: Float64Array): Float64Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
