import { describe, expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { rank } from './rank.ts';

const formatTestPair = (query: number, position: number) => `query ${query}, candidate ${position}`;

describe.each(TEST_BACKENDS)('%s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('orders by score, then by place, and drops the padding even below negative scores', async () => {
    const pool = { queryCount: 2, width: 5, positions: Int32Array.of(7, 3, 5, 2, 0, 4, 1, -1, -1, -1) };
    const scores = Float32Array.of(0.1, 0.5, 0.5, -2, 0.5, -7, -3, 9, 9, 9);
    const ranking = await rank(pool, scores, 4, formatTestPair);
    expect([...ranking.slots]).toEqual([1, 2, 4, 0, 1, 0, -1, -1]);
    expect([...ranking.scores.subarray(0, 4)]).toEqual([0.5, 0.5, 0.5, Math.fround(0.1)]);
  });

  test.each([
    [31, 31],
    [307, 13],
  ])('agrees with a stable sort, ties and all: of %d the best %d', async (C, K) => {
    const Q = 7;
    const stream = createRandom(5, 'rank.test');
    const scores = Float32Array.from({ length: Q * C }, () => stream.integer(6));
    const pool = { queryCount: Q, width: C, positions: Int32Array.from({ length: Q * C }, (_, i) => i) };
    const { slots: ranked } = await rank(pool, scores, K, formatTestPair);
    for (let q = 0; q < Q; q++) {
      const expected = Array.from({ length: C }, (_, slot) => slot).sort(
        (a, b) => scores[q * C + b]! - scores[q * C + a]! || a - b,
      );
      expect([...ranked.subarray(q * K, (q + 1) * K)]).toEqual(expected.slice(0, K));
    }
  });

  test('a score that is no number names its query and candidate', async () => {
    const pool = { queryCount: 2, width: 2, positions: Int32Array.of(3, 1, 8, 9) };
    await expect(rank(pool, Float32Array.of(1, 2, 3, Number.NaN), 2, formatTestPair)).rejects.toThrow(NotFiniteError);
    await expect(rank(pool, Float32Array.of(1, 2, 3, Number.NaN), 2, formatTestPair)).rejects.toThrow(
      'query 1, candidate 9',
    );
  });
});
