import { beforeAll, expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { findSimilarTurns } from './distances.ts';

beforeAll(async () => void (await useBackend('wasm')));

const D = 19;

/** Unit rows around a few directions: some are equal, some nearly, and some are zero. */
function drawRows(count: number, seed: number): { ids: string[]; vectors: Float32Array } {
  const source = createRandom(seed, 'similar turns');
  const centres = Array.from({ length: 5 }, () => Array.from({ length: D }, () => source.drawNormal()));
  const vectors = new Float32Array(count * D);
  for (let row = 0; row < count; row++) {
    const noise = [0, 1e-7, 0.05, 0.5][source.integer(4)]!;
    const raw = centres[source.integer(5)]!.map((value) => value + noise * source.drawNormal());
    const length = source.uniform() < 0.1 ? Number.POSITIVE_INFINITY : Math.hypot(...raw);
    vectors.set(
      raw.map((value) => value / length),
      row * D,
    );
  }
  return { ids: Array.from({ length: count }, (_, row) => `t${(row * 37) % count}-${row}`), vectors };
}

const list = (found: readonly ReadonlyMap<string, number>[]) => found.map((near) => [...near]);

test.each([-1, 0, 0.3, 0.8, 1])(
  'the similar turns of later turns are those that they have among all (from %d)',
  async (above) => {
    for (const [seed, count] of [1, 2, 11, 60, 211].entries()) {
      const { ids, vectors } = drawRows(count, seed);
      const all = list(await findSimilarTurns(ids, vectors, D, above));
      const source = createRandom(seed, 'batches');
      for (let first = 0; first < count; first += 1 + source.integer(20)) {
        const end = Math.min(count, first + 1 + source.integer(17));
        const found = await findSimilarTurns(ids.slice(0, end), vectors.subarray(0, end * D), D, above, first);
        expect(list(found)).toEqual(all.slice(first, end));
      }
    }
  },
);

test('no later turn has no similar turns, and a later vector that is not finite names its turn', async () => {
  const { ids, vectors } = drawRows(7, 1);
  expect(await findSimilarTurns(ids, vectors, D, 0.5, 7)).toEqual([]);
  const wrong = vectors.slice();
  wrong[6 * D + 3] = Number.NaN;
  await expect(findSimilarTurns(ids, wrong, D, 0.5, 5)).rejects.toThrow(NotFiniteError);
  await expect(findSimilarTurns(ids, wrong, D, 0.5, 5)).rejects.toThrow(/t5-6|t4-6|t[0-9]-6/);
});
