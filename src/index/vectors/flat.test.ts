import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { measureCost } from '../../core/tensors/active-backend.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import type { Candidates } from '../../model/candidates.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { allocateCandidates } from '../candidates/query-batch.ts';
import { takeBest, takeBestByGroups, takeBestOnCard, takeBestOnHost } from './best-rows.ts';
import { buildUnchangingRows, type DenseRows, FlatIndex } from './flat.ts';

const [N, Q, D, K] = [103, 23, 19, 13];

/** Row-major unit rows. */
function drawUnitRows(count: number, name: string): Float32Array {
  const stream = createRandom(5, name);
  const rows = new Float32Array(count * D);
  for (let row = 0; row < count; row++) {
    const raw = Array.from({ length: D }, () => stream.drawNormal());
    rows.set(
      raw.map((value) => value / Math.hypot(...raw)),
      row * D,
    );
  }
  return rows;
}

const allocateThree = (asked: number, k: number) =>
  [0, 0, 0].map(() => allocateCandidates(asked, k)) as [Candidates, Candidates, Candidates];

const ids = Array.from({ length: N }, (_, i) => `id${(i * 71) % N}`);

function buildBatch(vectors: Float32Array, cutoffs: readonly number[]) {
  return { texts: cutoffs.map(() => ''), vectors, cutoffs: Int32Array.from(cutoffs) };
}

function dot(a: Float32Array, i: number, b: Float32Array, j: number): number {
  let sum = 0;
  for (let d = 0; d < D; d++) sum += a[i * D + d]! * b[j * D + d]!;
  return sum;
}

/** The rows that a query may see, best first in float64. */
function searchByBruteForce(rows: DenseRows, vectors: Float32Array, query: number, cutoff: number) {
  return [...rows.positions.keys()]
    .filter((row) => rows.validFrom[row]! <= cutoff && cutoff < rows.validTo[row]!)
    .map((row) => ({ position: rows.positions[row]!, score: dot(rows.vectors, row, vectors, query) }))
    .sort((a, b) => b.score - a.score);
}

async function expectExact(rows: DenseRows, block?: number): Promise<void> {
  const index = new FlatIndex(ids, rows, block);
  const vectors = drawUnitRows(Q, 'queries');
  const cutoffs = Array.from({ length: Q }, (_, query) => (query * 17) % (N + 1));
  const { positions, scores } = await index.search(buildBatch(vectors, cutoffs), K);
  for (const [query, cutoff] of cutoffs.entries()) {
    const expected = searchByBruteForce(rows, vectors, query, cutoff).slice(0, K);
    const found = [...positions.subarray(query * K, (query + 1) * K)].filter((position) => position >= 0);
    expect(found).toEqual(expected.map(({ position }) => position));
    for (const [i, { score }] of expected.entries())
      expect(Math.abs(scores[query * K + i]! - score)).toBeLessThan(1e-6);
  }
  index.dispose();
}

describe.each(TEST_BACKENDS)('flat index on %s', (backend) => {
  let before: number;
  beforeAll(async () => {
    await useBackend(backend);
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  describeCandidateIndex(
    'flat',
    ({ ids, vectors, dimension }) => new FlatIndex(ids, buildUnchangingRows(vectors, dimension)),
  );

  test.each([
    ['all queries at once', undefined],
    ['five queries at a time, three at last', 5 * N + 1],
    ['a query at a time, where not even one fits', N - 1],
  ])('finds exactly what a float64 scan finds: %s', async (_, block) => {
    await expectExact(buildUnchangingRows(drawUnitRows(N, 'turns'), D), block);
  });

  test('tells its progress by blocks, and lets events in between', async () => {
    const index = new FlatIndex(ids, buildUnchangingRows(drawUnitRows(N, 'turns').fill(0, 0, 2 * D), D), 16 * N);
    const told: unknown[] = [];
    const recordProgress = (...start: unknown[]) => {
      told.push(start);
      return { update: (done: number) => told.push(done), finish: (remark?: string) => told.push(remark) };
    };
    await index.search(buildBatch(drawUnitRows(Q, 'queries'), Array(Q).fill(N)), K, recordProgress);
    expect(told).toEqual([['flat', Q], 16, Q, `${Q} queries, zero vectors left out: 2`]);
    await expectEventsLetIn((slowly) =>
      index.search(buildBatch(drawUnitRows(Q, 'queries'), Array(Q).fill(N)), K, slowly),
    );
    index.dispose();
  });

  test('sees of a turn that changes the version of the moment', async () => {
    // Every fourth turn has a second version from 5 cutoffs later on, every eighth a gap before it.
    const plain = buildUnchangingRows(drawUnitRows(N, 'turns'), D);
    const changed = [...plain.positions].filter((position) => position % 4 === 1);
    const later = drawUnitRows(changed.length, 'later');
    await expectExact({
      dimension: D,
      vectors: Float32Array.from([...plain.vectors, ...later]),
      positions: Int32Array.from([...plain.positions, ...changed]),
      validFrom: Int32Array.from([...plain.validFrom, ...changed.map((position) => position + 6)]),
      validTo: Int32Array.from([
        ...[...plain.validTo].map((to, position) =>
          position % 4 === 1 ? position + (position % 8 === 1 ? 3 : 6) : to,
        ),
        ...changed.map(() => 2 ** 31 - 1),
      ]),
    });
  });

  test('equal scores are cut at k by id descending', async () => {
    // Sums of quarters are exact in any order: some processors add up the rows of one product in several.
    const halves = (places: readonly number[]) => Array.from({ length: D }, (_, d) => (places.includes(d) ? 0.5 : 0));
    const same = new Float32Array(N * D);
    for (let row = 0; row < N; row++) same.set(halves([0, 1, 2, 3]), row * D);
    const index = new FlatIndex(ids, buildUnchangingRows(same, D));
    const queries = Float32Array.from([...halves([0, 1, 2, 4]), ...halves([2, 3, 5, 6])]);
    const { positions } = await index.search(buildBatch(queries, [N, 61]), K);
    for (const [query, cutoff] of [N, 61].entries()) {
      const expected = ids.slice(0, cutoff).sort().reverse().slice(0, K);
      expect([...positions.subarray(query * K, (query + 1) * K)].map((position) => ids[position])).toEqual(expected);
    }
    index.dispose();
  });

  test.each([
    [61, 11, 5],
    [61, 11, 61],
    [61, 11, 67],
    [1, 3, 2],
    [2, 1, 1],
    [80, 13, 5],
    [337, 11, 7],
  ])('the pass over %i rows for %i queries takes the same %i as topk, bit for bit', async (count, asked, k) => {
    const random = createRandom(3, `passes ${count} ${asked} ${k}`);
    // Few different numbers, so that many scores are equal; some rows that a query does not see, and a zero query.
    const draw = (size: number) => Float32Array.from({ length: size * D }, () => (random.integer(3) - 1) / 4);
    const drawMoments = (size: number, most: number) => Int32Array.from({ length: size }, () => random.integer(most));
    const rows = {
      vectors: tf.tensor2d(draw(count), [count, D]),
      positions: Int32Array.from({ length: count }, (_, row) => (row * 7) % count),
      validFrom: drawMoments(count, 9),
      validTo: drawMoments(count, 20),
    };
    const queries = Array.from({ length: asked }, (_, i) => asked - 1 - i);
    const part = { queries, vectors: draw(asked).fill(0, 0, asked > 1 ? D : 0), cutoffs: drawMoments(asked, 15) };
    const [host, card, chosen] = allocateThree(asked, k);
    await takeBestOnHost(rows, part, host);
    await takeBestOnCard(rows, part, card);
    await takeBest(rows, part, chosen);
    expect(chosen).toEqual(host);
    expect(host.positions).toEqual(card.positions);
    expect(host.scores).toEqual(card.scores);
    if (count > 16 * k) {
      const grouped = allocateCandidates(asked, k);
      await takeBestByGroups(rows, part, grouped);
      expect(grouped).toEqual(host);
    }
    if (count > 2) {
      expect(host.positions.some((position) => position >= 0)).toBe(true);
      expect(new Set(host.scores).size).toBeLessThan(host.scores.length);
    }
    rows.vectors.dispose();
  });

  test.each([
    [1, 1, 1],
    [2, 17, 5],
    [239, 16, 3],
    [240, 33, 64],
    [509, 31, 131],
    [121, 3, 385],
  ])('of %i rows for %i queries of %i numbers the best have the bits of the product', async (count, asked, width) => {
    const random = createRandom(3, `bits ${count}`);
    // Products above -2, which on a card stands for what a query may not see.
    const draw = (size: number) =>
      Float32Array.from({ length: size * width }, () => random.drawNormal() / (2 * Math.sqrt(width)));
    const rows = {
      vectors: tf.tensor2d(draw(count), [count, width]),
      positions: Int32Array.from({ length: count }, (_, row) => count - 1 - row),
      validFrom: new Int32Array(count),
      validTo: Int32Array.from({ length: count }, (_, row) => (row % 5 === 1 ? 0 : 1)),
    };
    const part = { queries: [...Array(asked).keys()], vectors: draw(asked), cutoffs: new Int32Array(asked) };
    const [host, chosen] = [allocateCandidates(asked, 7), allocateCandidates(asked, 7)];
    await takeBestOnHost(rows, part, host);
    await takeBest(rows, part, chosen);
    expect(chosen).toEqual(host);
    expect(host.positions[0]).toBeGreaterThanOrEqual(0);
    rows.vectors.dispose();
  });

  test.each([
    [257, 9, 3, true],
    [257, 9, 3, false],
    [320, 8, 10, true],
  ])('of %i rows for %i queries the best %i are in the best groups', async (count, asked, k, seen) => {
    // Sums of parts of 4096 are exact, so a card gives the same for rows and queries in each other's place.
    const draw = (size: number, name: string) => drawUnitRows(size, name).map((value) => Math.round(value * 64) / 64);
    const rows = {
      vectors: tf.tensor2d(draw(count, 'grouped'), [count, D]),
      positions: Int32Array.from({ length: count }, (_, row) => row),
      validFrom: new Int32Array(count),
      validTo: Int32Array.from({ length: count }, (_, row) => (seen || row % 7 === 0 ? 2 : 1)),
    };
    const part = {
      queries: [...Array(asked).keys()],
      vectors: draw(asked, 'asked'),
      cutoffs: new Int32Array(asked).fill(1),
    };
    const [host, grouped, chosen] = allocateThree(asked, k);
    await takeBestOnHost(rows, part, host);
    await takeBestByGroups(rows, part, grouped);
    expect(grouped).toEqual(host);
    expect(host.positions).not.toContain(-1);
    const { all } = await measureCost(() => takeBest(rows, part, chosen));
    expect(chosen).toEqual(host);
    if (backend === 'node') expect(all.bytesRead).toBe(4 * asked * (18 * k + (count % 16 || 16)));
    rows.vectors.dispose();
  });

  test('zero vectors are found by nobody and find nothing', async () => {
    const vectors = drawUnitRows(N, 'turns').fill(0, 3 * D, 5 * D);
    const index = new FlatIndex(ids, buildUnchangingRows(vectors, D));
    const queries = drawUnitRows(2, 'queries').fill(0, D);
    const { positions } = await index.search(buildBatch(queries, [7, 7]), 9);
    expect([...positions.subarray(0, 9)].sort((a, b) => a - b)).toEqual([-1, -1, -1, -1, 0, 1, 2, 5, 6]);
    expect([...positions.subarray(9)]).toEqual(Array(9).fill(-1));
    index.dispose();
    const empty = new FlatIndex(['a'], buildUnchangingRows(new Float32Array(D), D));
    expect([...(await empty.search(buildBatch(drawUnitRows(1, 'queries'), [1]), 2)).positions]).toEqual([-1, -1]);
    empty.dispose();
  });

  test('bad rows and bad queries are refused', async () => {
    const rows = buildUnchangingRows(drawUnitRows(N, 'turns'), D);
    expect(() => new FlatIndex(ids, { ...rows, vectors: rows.vectors.with(7 * D, Number.NaN) })).toThrow(
      NotFiniteError,
    );
    const index = new FlatIndex(ids, rows);
    await expect(index.search(buildBatch(drawUnitRows(2, 'queries').subarray(1), [1, 2]), K)).rejects.toThrow(
      DimensionMismatchError,
    );
    await expect(index.search(buildBatch(drawUnitRows(2, 'queries').fill(Number.NaN), [1, 2]), K)).rejects.toThrow(
      NotFiniteError,
    );
    expect(tf.memory().numTensors).toBe(before + 1);
    index.dispose();
    await expect(index.search(buildBatch(drawUnitRows(1, 'queries'), [1]), K)).rejects.toThrow(
      /^index was disposed: flat; /,
    );
  });
});
