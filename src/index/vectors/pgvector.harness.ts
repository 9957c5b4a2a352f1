import { describe, expect, test } from 'vitest';
import {
  DimensionMismatchError,
  IndexBuildError,
  ReplicationError,
  ShardError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { decodeHalfFloats, encodeHalfFloats } from '../../core/numbers/half-floats.ts';
import { createRandom } from '../../core/numbers/random.ts';
import type { Filter } from '../../model/filter/filter.ts';
import type { Distance, VectorRow } from '../../model/vector-index.ts';
import { openFlatVectors } from './flat-vectors.ts';
import { PgvectorIndex } from './pgvector.ts';
import type { SqlDatabase } from './postgres/sql-database.ts';
import { readSavedIndex } from './saved-index.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';
import { type PgvectorOptions, pgvector } from './vector-kind.ts';

const [N, D] = [1301, 13];

function drawRows(count: number = N, start = 0): VectorRow[] {
  return Array.from({ length: count }, (_, i) => {
    const stream = createRandom(start + i, 'rows');
    const vector = Float32Array.from({ length: D }, () => stream.drawNormal());
    return { id: `row${start + i}`, vector, subject: { attributes: { place: start + i } } };
  });
}

const queries = Float32Array.from(drawRows(11, 100_000).flatMap(({ vector }) => [...vector]));

/** The numbers that a column of halfvec keeps of a vector. */
function roundToHalf(distance: Distance, vector: Float32Array): Float32Array {
  const length = distance === 'cosine' ? Math.hypot(...vector) : 1;
  return decodeHalfFloats(encodeHalfFloats(vector.map((value) => value / length)));
}

/** The contract of live indexes on a Postgres, and what only Postgres has. */
export function describePgvector(name: string, connect: () => Promise<SqlDatabase>): void {
  let tables = 0;
  const nameTable = () => `contract_${process.pid}_${tables++}`;
  const readOptions = (input: Partial<PgvectorOptions>) =>
    pgvector.live.options.parse({ index: 'pgvector', table: nameTable(), ...input }) as PgvectorOptions;
  const open = async (input: Partial<PgvectorOptions> = {}, dimension: number = D) =>
    PgvectorIndex.open(readOptions(input), { dimension }, await connect());

  for (const storage of ['vector', 'halfvec'] as const)
    describeVectorIndex(
      `pgvector on ${name}, ${storage}`,
      async (distance, dimension, folder) =>
        PgvectorIndex.open(
          readOptions({ distance, storage }),
          { dimension, ...(folder === undefined ? {} : { saved: await readSavedIndex(folder) }) },
          await connect(),
        ),
      storage === 'vector' ? undefined : roundToHalf,
    );

  describe(`pgvector on ${name}`, () => {
    test.each([
      ['hnsw', 'l2', 'vector', 'relaxed_order'],
      ['hnsw', 'cosine', 'vector', 'strict_order'],
      ['hnsw', 'l2', 'vector', 'off'],
      ['hnsw', 'cosine', 'halfvec', 'relaxed_order'],
      ['hnsw', 'inner-product', 'halfvec', 'strict_order'],
      ['ivfflat', 'inner-product', 'vector', 'relaxed_order'],
      ['ivfflat', 'l2', 'vector', 'relaxed_order'],
      ['ivfflat', 'cosine', 'halfvec', 'off'],
    ] as const)(
      '%s with %s, %s and scans %s finds nearly all that an exact index finds, k of them behind every filter',
      async (method, distance, storage, iterativeScan) => {
        const index = await open({ method, distance, storage, iterativeScan, lists: 10, probes: 8 });
        const flat = await openFlatVectors({ index: 'flat', distance }, { dimension: D });
        const twins = drawRows(30, 5000).map((row) => ({ ...row, vector: queries.slice(0, D) }));
        for (const each of [index, flat]) {
          await each.upsert([...drawRows(), ...twins]);
          await each.build();
          await each.upsert(drawRows(400, 3000));
          await each.remove(drawRows(100).map(({ id }) => id));
        }
        const filters: (Filter | undefined)[] = [
          undefined,
          { op: '<', field: 'place', value: 120 },
          { op: '>', field: 'place', value: 150 },
        ];
        for (const filter of filters) {
          const options = filter === undefined ? {} : { filter };
          const [found, exact] = [await index.search(queries, 10, options), await flat.search(queries, 10, options)];
          expect(found.every((row) => row.length === 10)).toBe(true);
          const hits = exact.flatMap((row, query) =>
            row.filter(({ id }) => found[query]!.some((each) => each.id === id)),
          );
          expect(hits.length / exact.flat().length).toBeGreaterThan(0.9);
        }
        const [ties] = await index.search(queries.slice(0, D), 10);
        if (distance !== 'inner-product') {
          const [best] = await flat.search(queries.slice(0, D), 10);
          expect(ties!.map(({ id }) => id)).toEqual(best!.map(({ id }) => id));
        }
        await index.dispose();
      },
    );

    test('a table is taken over as it is, and one of another dimension or distance is refused', async () => {
      const table = nameTable();
      const first = await open({ table });
      await first.upsert(drawRows(5));
      await first.dispose();
      const again = await open({ table });
      expect(await again.count()).toBe(5);
      await again.dispose();
      await expect(open({ table }, D + 1)).rejects.toThrow(DimensionMismatchError);
      await expect(open({ table, storage: 'halfvec' })).rejects.toThrow(DimensionMismatchError);
      await expect(open({ table, distance: 'l2' })).rejects.toThrow(/another distance than l2: ragpp cosine; /);
    });

    const describeIndexes = async (table: string) => {
      const database = await connect();
      const rows = await database.transaction((session) =>
        session.query('select indexdef from pg_indexes where tablename = $1', [table]),
      );
      await database.dispose();
      return rows
        .map(({ indexdef }) => /using (hnsw|ivfflat) .*with \((.*)\)/i.exec(String(indexdef))?.slice(1))
        .filter((made) => made !== undefined)
        .join();
    };

    test('an index of the table that other options made is replaced', async () => {
      const table = nameTable();
      const made: string[] = [];
      for (const input of [{ lists: 10 }, { lists: 20 }, { method: 'hnsw', m: 8 }] as const) {
        const index = await open({ table, method: 'ivfflat', ...input });
        if (made.length === 0) await index.upsert(drawRows());
        await index.search(queries, 1);
        await index.dispose();
        made.push(await describeIndexes(table));
      }
      expect(made).toEqual([
        expect.stringMatching(/^,?ivfflat,lists='?10'?,?$/),
        expect.stringMatching(/^,?ivfflat,lists='?20'?,?$/),
        expect.stringMatching(/^,?hnsw,m='?8'?, ef_construction='?64'?,?$/),
      ]);
    });

    test('a cleared table has no index until it has rows enough', async () => {
      const table = nameTable();
      const index = await open({ table });
      await index.upsert(drawRows());
      await index.search(queries, 1);
      await index.clear();
      await index.upsert(drawRows(5));
      expect((await index.search(queries, 9))[0]).toHaveLength(5);
      expect(await describeIndexes(table)).not.toMatch(/hnsw/);
      await index.dispose();
    });

    /** A database whose statements are listed, and of which one may fail. */
    const listen = async (statements: string[], fail: (sql: string) => boolean = () => false): Promise<SqlDatabase> => {
      const database = await connect();
      return {
        address: database.address,
        dispose: () => database.dispose(),
        vacuum: (table) => database.vacuum(table),
        transaction: (work) =>
          database.transaction((session) =>
            work({
              copyIn: (target, payload) => session.copyIn(target, payload),
              queryOne: (sql, parameters) => session.queryOne(sql, parameters),
              query: (sql, parameters) => {
                statements.push(sql);
                return fail(sql) ? Promise.reject(new Error('no more')) : session.query(sql, parameters);
              },
            }),
          ),
      };
    };

    test('the index is built once: before a search, by the first search, or by another client; a build that fails is repeated', async () => {
      const [statements, others]: string[][] = [[], []];
      let isFailing = true;
      const options = readOptions({ method: 'ivfflat', lists: 7 });
      const fail = (sql: string) => isFailing && /^analyze/.test(sql); // when the index is there
      const index = await PgvectorIndex.open(options, { dimension: D }, await listen(statements!, fail));
      const other = await PgvectorIndex.open(options, { dimension: D }, await listen(others!));
      const listBuilds = () =>
        [statements!, others!].map((each) => each.filter((sql) => /^create index .* using/.test(sql)).length);
      await index.upsert(drawRows(1000));
      await index.build();
      expect(listBuilds()).toEqual([0, 0]); // every search of a thousand rows compares them all
      await index.upsert(drawRows(N));
      await expect(index.search(queries, 1)).rejects.toThrow('no more');
      expect(await describeIndexes(options.table)).not.toMatch(/ivfflat/);
      isFailing = false;
      await index.build();
      await index.search(queries, 1);
      expect(listBuilds()).toEqual([2, 0]);
      await other.search(queries, 1);
      expect(listBuilds()).toEqual([2, 0]);
      await index.upsert(drawRows(N + 1, 10_000)); // more than the lists were trained on
      await Promise.all([index.build(), index.search(queries, 1)]);
      expect(listBuilds()).toEqual([3, 0]);
      await index.dispose();
      await other.dispose();
    });

    test('up to a tenth of the rows is compared one by one; among more hnsw looks for efSearch of them', async () => {
      const statements: string[] = [];
      const options = readOptions({ m: 2, efConstruction: 4, efSearch: 70 });
      const index = await PgvectorIndex.open(options, { dimension: D }, await listen(statements));
      await index.upsert(drawRows(11_000));
      await index.build();
      const readPlan = async (visible: number) => {
        statements.length = 0;
        await index.search(queries.slice(0, D), 5, { filter: { op: '<', field: 'place', value: visible } });
        return statements.at(-1)?.match(/with seen|limit \d+$/g);
      };
      expect(await readPlan(1100)).toEqual(['with seen', 'limit 5']);
      expect(await readPlan(1101)).toEqual(['limit 70']);
      // Rows are put in order here, so that those which hnsw finds out of order need not be dropped.
      expect(statements.join()).toContain("set_config('hnsw.iterative_scan', 'relaxed_order', true)");
      statements.length = 0;
      await index.search(queries.slice(0, D), 5);
      expect(statements.at(-1)).toMatch(/limit 6$/);
      await index.dispose();
    });

    test('a database that takes no writes is an error of writes alone', async () => {
      const database = await connect();
      let isStandby = false;
      const transaction: SqlDatabase['transaction'] = (work) =>
        database.transaction(async (session) => {
          if (isStandby) await session.query('set transaction read only');
          return work(session);
        });
      const options = readOptions({});
      const index = await PgvectorIndex.open(options, { dimension: D }, { ...database, transaction });
      await index.upsert(drawRows(3));
      isStandby = true;
      const written = index.upsert(drawRows(1, 7));
      await expect(written).rejects.toThrow(ReplicationError);
      await expect(written).rejects.toThrow(/^replica .*read-only transaction; name a server that takes writes$/);
      await expect(index.remove(['row0'])).rejects.toThrow(ReplicationError);
      expect((await index.search(queries.slice(0, D), 5))[0]).toHaveLength(3);
      const reader = await PgvectorIndex.open(options, { dimension: D }, { ...database, transaction });
      expect(await reader.search(queries, 5)).toEqual(await index.search(queries, 5));
      await reader.dispose();
    });

    test('a table is written to new files without removed rows; its index is built again by a later search', async () => {
      const statements: string[] = [];
      const options = readOptions({ m: 2, efConstruction: 4 });
      const index = await PgvectorIndex.open(options, { dimension: D }, await listen(statements));
      await index.upsert(drawRows());
      await index.search(queries, 3);
      await index.remove(drawRows(100).map(({ id }) => id));
      const found = await index.search(queries, 3, { visible: new Set(['row200', 'row201', 'row202']) });
      const database = await connect();
      const readFiles = () =>
        database.transaction((session) =>
          session.query(
            'select pg_relation_filenode($1::regclass) as file, pg_relation_size($1::regclass)::int as size',
            [options.table],
          ),
        );
      const [before] = await readFiles();
      expect(await describeIndexes(options.table)).toMatch(/hnsw/);
      await index.compact();
      const [after] = await readFiles();
      expect(after?.file).not.toBe(before?.file);
      expect(after?.size as number).toBeLessThan(before?.size as number);
      expect(await describeIndexes(options.table)).not.toMatch(/hnsw/);
      expect(await index.search(queries, 3, { visible: new Set(['row200', 'row201', 'row202']) })).toEqual(found);
      await index.search(queries, 3);
      expect(await describeIndexes(options.table)).toMatch(/hnsw/);
      await index.remove(
        (await database.transaction((session) => session.query(`select id from ${options.table}`))).map(({ id }) =>
          String(id),
        ),
      );
      await index.compact();
      const known = await database.transaction((session) =>
        session.query('select attname from pg_stats where tablename = $1', [options.table]),
      );
      expect([known, (await readFiles())[0]?.size]).toEqual([[], 0]);
      await index.upsert(drawRows(2));
      expect(await index.count()).toBe(2);
      await index.dispose();
      await database.dispose();
    });

    test('a table in partitions is an index; a row without a partition is an error that stores nothing', async () => {
      const database = await connect();
      const options = readOptions({});
      const addPart = (remainder: number) =>
        `create table ${options.table}_${remainder} partition of ${options.table} for values with (modulus 2, remainder ${remainder})`;
      await database.transaction(async (session) => {
        await session.query('create extension if not exists vector');
        await session.query(`create table ${options.table} (id text collate "C" primary key, conversation_id text,
          parent_id text, created_at double precision, author text, channel text, attributes jsonb not null,
          embedding vector(${D})) partition by hash (id)`);
        await session.query(addPart(0));
      });
      const index = await PgvectorIndex.open(options, { dimension: D }, { ...database, dispose: async () => {} });
      const written = index.upsert(drawRows());
      await expect(written).rejects.toThrow(ShardError);
      await expect(written).rejects.toThrow(/^shard contract_.* no partition of relation .*; add the partition/);
      expect(await index.count()).toBe(0);
      await database.transaction((session) => session.query(addPart(1)));
      await index.upsert(drawRows());
      await index.upsert(drawRows(100));
      const flat = await openFlatVectors({ index: 'flat', distance: 'cosine' }, { dimension: D });
      await flat.upsert(drawRows());
      const list = async (each: typeof flat) => (await each.search(queries.slice(0, D), 3))[0]?.map(({ id }) => id);
      expect(await list(index)).toEqual(await list(flat));
      await index.compact();
      expect(await list(index)).toEqual(await list(flat));
      await index.dispose();
      await database.dispose();
    });

    test('vectors that no index takes are refused unless every search is exact', async () => {
      await expect(open({ method: 'hnsw' }, 2001)).rejects.toThrow(IndexBuildError);
      await expect(open({}, 0)).rejects.toThrow(ValidationError);
      const index = await open({ method: 'none' }, 2001);
      const vector = new Float32Array(2001).fill(1, 0, 7);
      await index.upsert([{ id: 'long', vector }]);
      expect((await index.search(vector, 1))[0]).toMatchObject([{ id: 'long' }]);
      await index.dispose();
      await (await open({ method: 'hnsw', storage: 'halfvec' }, 4000)).dispose();
      await expect(open({ storage: 'halfvec' }, 4001)).rejects.toThrow(/at most 4000 numbers as halfvec, got 4001; /);
    });

    test('numbers that halfvec rounds to infinity are refused, and change nothing', async () => {
      const index = await open({ storage: 'halfvec', distance: 'l2' }, 3);
      await index.upsert([{ id: 'largest', vector: Float32Array.of(65_519, 1, -65_519) }]);
      const vector = Float32Array.of(1, -65_520, 1);
      const refused = /^halfvec holds numbers below 65520: -65520; set storage: vector$/;
      await expect(
        index.upsert([
          { id: 'a', vector: Float32Array.of(1, 2, 3) },
          { id: 'b', vector },
        ]),
      ).rejects.toThrow(refused);
      await expect(index.search(vector, 1)).rejects.toThrow(refused);
      expect((await index.search(Float32Array.of(65_504, 1, -65_504), 9))[0]).toEqual([
        { id: 'largest', score: 1, distance: 0 },
      ]);
      await index.dispose();
    });

    test('a scan that its method does not have is refused; the others are set for the transaction alone', async () => {
      await expect(open({ method: 'ivfflat', iterativeScan: 'strict_order' })).rejects.toThrow(
        /^ivfflat has no iterative scan in this order: strict_order; set iterativeScan: relaxed_order or off$/,
      );
      for (const iterativeScan of ['off', 'strict_order'] as const) {
        const statements: string[] = [];
        const options = readOptions({ iterativeScan, efSearch: 70 });
        const index = await PgvectorIndex.open(options, { dimension: D }, await listen(statements));
        await index.upsert(drawRows());
        await index.build();
        statements.length = 0;
        await index.search(queries.slice(0, D), 5, { filter: { op: '>', field: 'place', value: 150 } });
        expect(statements.join()).toContain(`set_config('hnsw.iterative_scan', '${iterativeScan}', true)`);
        expect(statements.find((sql) => /limit (6|70)$/.test(sql))).toMatch(iterativeScan === 'off' ? /6$/ : /70$/);
        await index.dispose();
      }
    });
  });
}
