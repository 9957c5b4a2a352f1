import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import type { Filter } from '../../model/filter/filter.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow } from '../../model/vector-index.ts';

const [N, D] = [149, 7];
const DISTANCES: readonly Distance[] = ['cosine', 'l2', 'inner-product'];
/** Ids of any script, with quotes, and with characters that UTF-8 and UTF-16 order differently. */
const ODD_IDS = ['ключ', '鍵 "a"', "o'hara; drop table", '\u{1f511}', '\uffee', ' ', 'tab\t\n\\.', '%s{}'];

function drawVector(row: number, name: string): Float32Array {
  const stream = createRandom(row, name);
  return Float32Array.from({ length: D }, () => stream.drawNormal() + 0.3);
}

/** Every third row has the vector of the one before, so that scores tie. */
function drawRows(count: number = N, start = 0): VectorRow[] {
  return Array.from({ length: count }, (_, i) => {
    const row = start + i;
    return {
      id: ODD_IDS[row] ?? `row-${(row * 37) % 1009}`,
      vector: drawVector(row % 3 === 2 ? row - 1 : row, 'row'),
      subject: {
        channel: row % 2 === 0 ? 'food' : 'music',
        timestamp: row * 1000,
        attributes: { place: row, tags: row % 5 === 0 ? ['soup', 'été'] : ['bread'] },
      },
    };
  });
}

function normalise(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The distance as the formula, in float64. */
function computeDistance(metric: Distance, a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  if (metric === 'l2') return Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0));
  return metric === 'cosine' ? 1 - dot(normalise(a), normalise(b)) : -dot(a, b);
}

/** What an exact search must find: every row measured by the formula, equal distances by id descending. */
function rankAll(metric: Distance, rows: readonly VectorRow[], query: Float32Array, k: number): string[] {
  return rows
    .map(({ id, vector }) => ({ id, distance: Math.fround(computeDistance(metric, vector, query)) }))
    .sort(
      (a, b) => (Math.abs(a.distance - b.distance) < 1e-6 ? 0 : a.distance - b.distance) || compareBytes(b.id, a.id),
    )
    .slice(0, k)
    .map(({ id }) => id);
}

const idsOf = (matches: readonly VectorMatch[] | undefined) => matches?.map(({ id }) => id);

/** Opens an empty index, or one over what was saved in a folder. */
export type OpenForContract = (distance: Distance, dimension: number, folder?: string) => Promise<VectorIndex>;

/**
 * The contract of every index whose vectors come and go, as tests.
 *
 * @param keep the numbers that the index keeps of a vector; by default all.
 */
export function describeVectorIndex(
  name: string,
  open: OpenForContract,
  keep: (distance: Distance, vector: Float32Array) => Float32Array = (_, vector) => vector,
): void {
  const rankKept = (metric: Distance, rows: readonly VectorRow[], query: Float32Array, k: number) =>
    rankAll(
      metric,
      rows.map((row) => ({ ...row, vector: keep(metric, row.vector) })),
      keep(metric, query),
      k,
    );
  describe(`contract of a live index: ${name}`, () => {
    const opened: VectorIndex[] = [];
    const openNew = async (distance: Distance = 'cosine', dimension: number = D, folder?: string) => {
      const index = await open(distance, dimension, folder);
      opened.push(index);
      return index;
    };
    const openFilled = async (distance: Distance = 'cosine', rows: readonly VectorRow[] = drawRows()) => {
      const index = await openNew(distance);
      await index.upsert(rows);
      return index;
    };
    afterEach(async () => {
      for (const index of opened.splice(0)) await index.dispose();
    });

    test.each(DISTANCES)('%s: the order of the formula, ties by id descending, with both figures', async (distance) => {
      const rows = drawRows();
      const index = await openFilled(distance, rows);
      expect([index.distance, index.dimension, await index.count()]).toEqual([distance, D, N]);
      const queries = [0, 1, 2].map((query) => drawVector(query, 'query'));
      for (const k of [1, 2, 5, 10]) {
        const found = await index.search(Float32Array.from(queries.flatMap((query) => [...query])), k);
        expect(found.map(idsOf)).toEqual(queries.map((query) => rankKept(distance, rows, query, k)));
      }
      for (const { id, distance: measured, score } of (await index.search(queries[0]!, 20))[0]!) {
        const expected = computeDistance(
          distance,
          keep(distance, rows.find((row) => row.id === id)!.vector),
          keep(distance, queries[0]!),
        );
        expect(Math.abs(measured - expected)).toBeLessThan(1e-5);
        const scores = { cosine: 1 - expected, l2: 1 / (1 + expected), 'inner-product': -expected };
        expect(Math.abs(score - scores[distance])).toBeLessThan(1e-5);
      }
    });

    test('k larger than the index finds every row once; no query and no row find nothing', async () => {
      const rows = drawRows(11);
      const index = await openFilled('l2', rows);
      expect((await index.search(drawVector(0, 'query'), 50))[0]).toHaveLength(11);
      expect(await index.search(new Float32Array(0), 5)).toEqual([]);
      expect(await (await openNew()).search(drawVector(0, 'query'), 5)).toEqual([[]]);
      await index.upsert([]);
      expect([await index.count(), await index.remove([])]).toEqual([11, 0]);
    });

    test('upsert replaces the vector and the attributes of an id, and keeps the later of two rows', async () => {
      const index = await openFilled();
      const vector = drawVector(0, 'query');
      const filter: Filter = { op: '=', field: 'place', value: -1 };
      const first = { id: 'twice', vector: drawVector(1, 'other'), subject: {} };
      await index.upsert([first, { id: 'twice', vector, subject: { attributes: { place: -1 } } }]);
      await index.upsert([{ id: '鍵 "a"', vector, subject: { attributes: { place: -1 } } }]);
      expect(await index.count()).toBe(N + 1);
      expect(idsOf((await index.search(vector, 2))[0])).toEqual(['鍵 "a"', 'twice']);
      expect(idsOf((await index.search(vector, 9, { filter }))[0])).toEqual(['鍵 "a"', 'twice']);
    });

    test('removed rows are not found, and may come back', async () => {
      const rows = drawRows();
      const index = await openFilled('cosine', rows);
      const gone = rows.filter((_, row) => row % 4 !== 1).map(({ id }) => id);
      expect(await index.remove([...gone, 'nobody', gone[0]!])).toBe(gone.length);
      expect(await index.count()).toBe(N - gone.length);
      const query = drawVector(3, 'query');
      const left = rows.filter(({ id }) => !gone.includes(id));
      expect(idsOf((await index.search(query, N))[0])).toEqual(rankKept('cosine', left, query, N));
      await index.upsert(rows);
      expect(idsOf((await index.search(query, N))[0])).toEqual(rankKept('cosine', rows, query, N));
    });

    test('the index grows: rows that come later are found beside the first', async () => {
      const rows = drawRows();
      const index = await openNew('l2');
      for (let start = 0; start < N; start += 13) {
        await index.upsert(rows.slice(start, start + 13));
        const query = drawVector(start, 'query');
        const expected = rankKept('l2', rows.slice(0, start + 13), query, 3);
        expect(idsOf((await index.search(query, 3))[0])).toEqual(expected);
      }
    });

    const FILTERS: readonly [Filter, (row: number) => boolean][] = [
      [{ op: '=', field: 'channel', value: { query: 'channel' } }, (row) => row % 2 === 1],
      [{ op: 'between', field: 'place', low: 10, high: 20.5 }, (row) => row >= 10 && row <= 20],
      [{ op: 'contains', field: 'tags', value: 'été' }, (row) => row % 5 === 0],
      [{ op: 'not', of: { op: '<', field: 'timestamp', value: 140_000 } }, (row) => row >= 140],
      [{ op: 'in', field: 'id', values: ['ключ', "o'hara; drop table"] }, (row) => row === 0 || row === 2],
      [{ op: 'exists', field: 'nothing' }, () => false],
    ];

    test.each(FILTERS)('filter %j', async (filter, isVisible) => {
      const rows = drawRows();
      const index = await openFilled('cosine', rows);
      const query = drawVector(5, 'query');
      const seen = rows.filter((_, row) => isVisible(row));
      for (const k of [3, N]) {
        const found = await index.search(query, k, { filter, variables: { channel: 'music' } });
        expect(idsOf(found[0])).toEqual(rankKept('cosine', seen, query, k));
      }
      await index.remove(seen.map(({ id }) => id));
      expect((await index.search(query, 3, { filter, variables: { channel: 'music' } }))[0]).toEqual([]);
    });

    test('visible ids, unknown ones among them, and a filter besides', async () => {
      const rows = drawRows();
      const index = await openFilled('inner-product', rows);
      const query = drawVector(7, 'query');
      for (const every of [1, 3, 40]) {
        const seen = rows.filter((_, row) => row % every === 0);
        const visible = new Set(['nobody', ...seen.map(({ id }) => id)]);
        const found = await index.search(query, 5, { visible });
        expect(idsOf(found[0])).toEqual(rankKept('inner-product', seen, query, 5));
        const filter: Filter = { op: '=', field: 'channel', value: 'food' };
        const both = seen.filter(({ subject }) => subject?.channel === 'food');
        const filtered = await index.search(query, 5, { visible, filter });
        expect(idsOf(filtered[0])).toEqual(rankKept('inner-product', both, query, 5));
      }
      expect(await index.search(query, 5, { visible: new Set() })).toEqual([[]]);
    });

    test('zero vectors: without direction under cosine, ordinary otherwise; huge and tiny ones keep their order', async () => {
      const zero = { id: 'zero', vector: new Float32Array(D) };
      const query = drawVector(1, 'query');
      for (const distance of DISTANCES) {
        const index = await openFilled(distance, [zero, { id: 'one', vector: query }]);
        expect(await index.count()).toBe(2);
        const found = idsOf((await index.search(query, 5))[0]);
        expect(found).toEqual(distance === 'cosine' ? ['one'] : ['one', 'zero']);
        expect((await index.search(zero.vector, 5))[0]).toHaveLength(distance === 'cosine' ? 0 : 2);
        await index.upsert([{ ...zero, vector: query }]);
        expect((await index.search(query, 5))[0]).toHaveLength(2);
      }
      const scaled = [1e-20, 1, 1e15].map((factor, i) => ({ id: `x${i}`, vector: query.map((v) => v * factor) }));
      const index = await openFilled('cosine', scaled);
      const [found] = await index.search(query, 3);
      expect(found!.every(({ score }) => Math.abs(score - 1) < 1e-6)).toBe(true);
    });

    test('a wrong dimension, NaN, infinity and texts that nothing can store are refused, and change nothing', async () => {
      const index = await openFilled('l2', drawRows(5));
      const good = { id: 'good', vector: drawVector(0, 'good') };
      const put = (row: VectorRow) => index.upsert([good, row]);
      const vector = drawVector(1, 'bad');
      await expect(put({ id: 'a', vector: new Float32Array(D + 1) })).rejects.toThrow(DimensionMismatchError);
      await expect(put({ id: 'a', vector: vector.with(3, Number.NaN) })).rejects.toThrow(NotFiniteError);
      await expect(put({ id: 'a', vector: vector.with(3, -Infinity) })).rejects.toThrow(
        /vector is not finite at row a/,
      );
      await expect(put({ id: 'a', vector: vector.with(3, 1e30) })).rejects.toThrow(/^vector of row a is longer than/);
      for (const id of ['', 'half \ud83d', 'nul \0', 'x'.repeat(3000)])
        await expect(put({ id, vector })).rejects.toThrow(ValidationError);
      await expect(put({ id: 'a', vector, subject: { attributes: { name: 'a\0' } } })).rejects.toThrow(ValidationError);
      await expect(index.search(new Float32Array(D - 1), 1)).rejects.toThrow(DimensionMismatchError);
      await expect(index.search(vector.with(0, Number.NaN), 1)).rejects.toThrow(NotFiniteError);
      await expect(index.search(vector, 0)).rejects.toThrow(/^k is not a positive integer: 0; /);
      expect(await index.count()).toBe(5);
    });

    test('searches and writes that overlap see whole writes', async () => {
      const index = await openFilled('l2', drawRows(40));
      const query = drawVector(0, 'query');
      const batches = [1, 2, 3].map((batch) => drawRows(20, 20 + 20 * batch));
      const counts = await Promise.all(
        batches.flatMap((rows) => [
          index.upsert(rows).then(() => 0),
          index.search(query, 500).then(([found]) => found!.length),
          index.count(),
        ]),
      );
      expect(counts.filter((count) => count % 20 !== 0)).toEqual([]);
      expect((await index.search(query, 500))[0]).toHaveLength(100);
    });

    test('writes that overlap follow each other in the order of the calls', async () => {
      const index = await openNew('l2');
      const write = (i: number) => index.upsert([{ id: 'same', vector: new Float32Array(D).fill(i) }]);
      await Promise.all(Array.from({ length: 9 }, (_, i) => (i === 4 ? index.remove(['same']) : write(i))));
      expect((await index.search(new Float32Array(D).fill(8), 2))[0]).toMatchObject([{ id: 'same', distance: 0 }]);
    });

    test('vectors and queries may be changed as soon as a call returns its promise', async () => {
      const index = await openNew('l2');
      const buffer = new Float32Array(D);
      const writes = [1, 2, 3].map((value) => index.upsert([{ id: `${value}`, vector: buffer.fill(value) }]));
      await Promise.all(writes);
      const searches = [1, 2, 3].map((value) => index.search(buffer.fill(value), 1));
      const found = await Promise.all(searches);
      expect(found.map(([row]) => idsOf(row))).toEqual([['1'], ['2'], ['3']]);
    });

    test.each(['cosine', 'l2', 'inner-product'] as const)(
      '%s: rows whose vectors never change are found like others, and keep their numbers',
      async (distance) => {
        const rows = drawRows();
        const copies = rows.map(({ vector }) => vector.slice());
        const [index, other] = [await openNew(distance), await openFilled(distance, rows)];
        await index.upsert(rows, true);
        const query = copies[3]!.map((value, d) => value + d / 7);
        expect(await index.search(query, 13)).toEqual(await other.search(query, 13));
        expect(rows.map(({ vector }) => vector)).toEqual(copies);
      },
    );

    test('to build an index changes nothing that a search finds', async () => {
      const index = await openFilled();
      const query = drawVector(0, 'query');
      const found = await index.search(query, 9);
      await index.build();
      await index.build();
      expect(await index.search(query, 9)).toEqual(found);
      await (await openNew()).build();
    });

    test('an aborted search stops with the reason', async () => {
      const index = await openFilled('l2', drawRows(5));
      const signal = AbortSignal.abort(new Error('too late'));
      await expect(index.search(drawVector(0, 'query'), 1, { signal })).rejects.toThrow('too late');
    });

    test('a disposed index is refused; dispose may be repeated', async () => {
      const index = await openFilled('l2', drawRows(5));
      await index.dispose();
      await index.dispose();
      await expect(index.count()).rejects.toThrow(/^index was disposed: .*; open it again/);
      await expect(index.build()).rejects.toThrow(ValidationError);
      await expect(index.search(drawVector(0, 'query'), 1)).rejects.toThrow(ValidationError);
    });

    test.each(DISTANCES)('%s: saved and reopened, it answers as before and goes on', async (distance) => {
      const folder = mkdtempSync(join(tmpdir(), 'ragpp-index-'));
      try {
        const rows = drawRows();
        const index = await openFilled(distance, [...rows, { id: 'zero', vector: new Float32Array(D) }]);
        await index.remove(rows.slice(0, 30).map(({ id }) => id));
        await index.save(folder);
        await index.upsert(drawRows(9, 200));
        await index.save(folder);
        const query = drawVector(2, 'query');
        const filter: Filter = { op: '=', field: 'channel', value: 'food' };
        const copy = await openNew(distance, D, folder);
        expect(await copy.count()).toBe(await index.count());
        for (const options of [{}, { filter }])
          expect(await copy.search(query, 20, options)).toEqual(await index.search(query, 20, options));
        await copy.upsert(rows);
        expect(await copy.remove(['zero'])).toBe(1);
        expect(await copy.count()).toBe(N + 9);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
}
