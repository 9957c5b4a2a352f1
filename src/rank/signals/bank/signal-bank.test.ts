import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../core/errors/errors.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import type { Query } from '../../../model/dataset.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { buildNewestPool } from '../columns.harness.ts';
import { createSampleWorkspace, DIMENSION, drawSampleWorld, type SampleWorld } from '../corpus.fixture.ts';
import type { Workspace } from '../workspace.ts';
import { listSignalNames, SIGNAL_GROUPS, type SignalBankOptions, signalBankOptions } from './options.ts';
import { type SignalTable, signalTable } from './signal-bank.ts';
import { prepareSignals } from './table-filler.ts';
import { computePlainTextScores } from './text-scores.oracle.ts';
import { createThreadsWorkspace, drawSampleThreads } from './threads.fixture.ts';

beforeAll(() => useBackend('wasm'));

const whole = signalBankOptions.parse({
  groups: SIGNAL_GROUPS.filter((group) => group !== 'attributes'),
  encoders: [{ encoder: 'lsa', dimension: 5, minDocumentFrequency: 1, oversampling: 2 }],
});

async function computeWorldTable(workspace: Workspace, options: SignalBankOptions = whole) {
  const pool = await buildNewestPool(workspace, 61);
  return { pool, table: await workspace.get(signalTable(options), pool) };
}

/** Every signal of every candidate, by query, turn and signal. */
type Rows = Map<string, Map<string, readonly number[]>>;

async function computeSignalRows(world: SampleWorld, options?: SignalBankOptions): Promise<Rows> {
  const workspace = createThreadsWorkspace(world);
  try {
    const { pool, table } = await computeWorldTable(workspace, options);
    const F = table.signals.length;
    const rows: Rows = new Map();
    for (const [q, { id }] of workspace.queries.entries()) {
      const turns = new Map<string, readonly number[]>();
      for (let pair = q * pool.width; pair < (q + 1) * pool.width; pair++) {
        const turn = workspace.corpus.turns[pool.positions[pair] as number];
        if (turn !== undefined) turns.set(turn.id, [...table.values.subarray(pair * F, (pair + 1) * F)]);
      }
      rows.set(id, turns);
    }
    return rows;
  } finally {
    workspace.dispose();
  }
}

function expectSame(found: Rows, expected: Rows, names: readonly string[]): void {
  expect([...found.keys()]).toEqual([...expected.keys()]);
  for (const [id, turns] of expected) {
    expect([...(found.get(id) ?? []).keys()]).toEqual([...turns.keys()]);
    for (const [turn, values] of turns)
      for (const [f, value] of values.entries()) {
        const other = found.get(id)?.get(turn)?.[f] as number;
        expect(Math.abs(other - value), `${names[f]} of ${turn} for ${id}: ${other}, not ${value}`).toBeLessThan(
          1e-5 * (1 + Math.abs(value)),
        );
      }
  }
}

const names = listSignalNames(whole);
const worlds = [3, 5].map((seed) => drawSampleThreads(seed, 37, 7));
const listEarlierTurns = ({ turns }: SampleWorld, query: Query): Turn[] =>
  turns.filter(({ timestamp }) => timestamp < query.timestamp);
const hasAsked = (turns: readonly Turn[], { conversationId }: Query) =>
  conversationId === undefined || turns.some((turn) => turn.conversationId === conversationId);

test('some queries name authors who are yet to speak', () => {
  const isEarly = (world: SampleWorld, query: Query) => {
    const known = new Set(listEarlierTurns(world, query).map(({ author }) => author));
    const later = world.turns.flatMap(({ author }) => (known.has(author) ? [] : (author ?? [])));
    return later.some((author) => query.text.includes(author));
  };
  for (const world of worlds) expect(world.queries.some((query) => isEarly(world, query))).toBe(true);
});

describe.each(worlds.map((world, i) => [i, world] as const))('world %i', (_, world) => {
  test('each row has its values as of the moment of the query', async () => {
    const known = await computeSignalRows(world);
    for (const query of world.queries) {
      const turns = listEarlierTurns(world, query);
      if (!hasAsked(turns, query)) continue;
      const then = await computeSignalRows({ ...world, turns, queries: [query] });
      expect(then.get(query.id)?.size).toBeGreaterThan(0);
      expectSame(new Map([[query.id, known.get(query.id) as Map<string, number[]>]]), then, names);
    }
  });

  test('a query that asks one conversation is answered as if there were no other', async () => {
    const known = await computeSignalRows(world);
    const asking = world.queries.filter(({ conversationId }) => conversationId !== undefined);
    expect(asking.length).toBeGreaterThan(2);
    for (const query of asking) {
      const { conversationId, ...alone } = query;
      const turns = world.turns.filter((turn) => turn.conversationId === conversationId);
      const then = await computeSignalRows({ ...world, turns, queries: [alone] });
      expectSame(new Map([[query.id, known.get(query.id) as Map<string, number[]>]]), then, names);
    }
  });

  test('words have the scores of the turns that the query asks, in their own columns', async () => {
    const known = await computeSignalRows(world);
    for (const query of world.queries) {
      const isAskedOf = ({ conversationId }: Turn) =>
        query.conversationId === undefined || conversationId === query.conversationId;
      const past = new Corpus(world.turns).turns.filter((turn) => turn.timestamp < query.timestamp && isAskedOf(turn));
      const scores = computePlainTextScores(
        past,
        query.text,
        past.flatMap(({ author }) => author ?? []),
      );
      expect(known.get(query.id)?.size).toBe(past.length);
      for (const [name, values] of scores)
        for (const [i, turn] of past.entries())
          expect(known.get(query.id)?.get(turn.id)?.[names.indexOf(name)], name).toBeCloseTo(values[i] as number, 4);
    }
  });

  test('vectors have the cosines of their encoders, in their own columns', async () => {
    const workspace = createThreadsWorkspace(world);
    const encoding = await workspace.embedWith(whole.encoders[0] ?? null);
    const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
    const viewTurnVector = (vectors: Float32Array, dimension: number, i: number) =>
      vectors.subarray(i * dimension, (i + 1) * dimension);
    const { pool, table } = await computeWorldTable(workspace);
    for (const [pair, position] of pool.positions.entries()) {
      if (position < 0) continue;
      const query = Math.floor(pair / pool.width);
      const readSignalValue = (name: string) => table.values[pair * names.length + names.indexOf(name)];
      const { turnVectors, batch } = workspace;
      expect(readSignalValue('cosine')).toBeCloseTo(
        cosine(viewTurnVector(turnVectors, DIMENSION, position), viewTurnVector(batch.vectors, DIMENSION, query)),
        5,
      );
      const { dimension } = encoding;
      const other = cosine(
        viewTurnVector(encoding.turnVectors, dimension, position),
        viewTurnVector(encoding.queryVectors, dimension, query),
      );
      expect(readSignalValue('cosine.lsa')).toBeCloseTo(other, 5);
    }
    workspace.dispose();
  });
});

test('every signal tells some candidates from others, and products are those of their signals', async () => {
  const all = await Promise.all(worlds.map((world) => computeSignalRows(world)));
  const rows = all.flatMap((found) => [...found.values()].flatMap((turns) => [...turns.values()]));
  for (const [f, name] of names.entries()) {
    const values = rows.map((row) => row[f] as number);
    expect(new Set(values).size, name).toBeGreaterThan(1);
    expect(values.every(Number.isFinite), name).toBe(true);
    const [a, b] = name.split('*').map((factor) => names.indexOf(factor)) as [number, number | undefined];
    if (b !== undefined) for (const row of rows) expect(row[f]).toBeCloseTo((row[a] as number) * (row[b] as number), 4);
  }
});

describe('a table', () => {
  const [world] = worlds as [SampleWorld];

  test('is 0 where the pool is padded, and leaves nothing behind', async () => {
    const before = tf.memory().numTensors;
    const workspace = createThreadsWorkspace(world);
    const { pool, table } = await computeWorldTable(workspace);
    expect(table.signals).toEqual(names);
    expect(table.values).toHaveLength(pool.positions.length * names.length);
    const padded = [...pool.positions.keys()].filter((pair) => pool.positions[pair] === -1);
    expect(padded.length).toBeGreaterThan(7);
    for (const pair of padded)
      expect(table.values.subarray(pair * names.length, (pair + 1) * names.length).every((value) => value === 0)).toBe(
        true,
      );
    workspace.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test.each(['time', 'thread', 'channel', 'author', 'structure', 'graph'] as const)(
    'of the group %s alone has the columns that the whole has of it',
    async (group) => {
      const options = signalBankOptions.parse({ groups: [group] });
      const own = listSignalNames(options);
      const columns = own.map((name) => names.indexOf(name));
      const part = [...(await computeSignalRows(world))].map(([id, turns]) => {
        const rows = [...turns].map(([turn, values]) => [turn, columns.map((f) => values[f] as number)] as const);
        return [id, new Map(rows)] as const;
      });
      expectSame(await computeSignalRows(world, options), new Map(part), own);
    },
  );

  test('without the group author does not know who speaks and who asks', async () => {
    const options = signalBankOptions.parse({ groups: whole.groups.filter((group) => group !== 'author') });
    const removeAuthors = <T>(rows: readonly T[]) => rows.map((row) => ({ ...row, author: null }));
    const anonymous = { ...world, turns: removeAuthors(world.turns), queries: removeAuthors(world.queries) };
    expectSame(
      await computeSignalRows(anonymous, options),
      await computeSignalRows(world, options),
      listSignalNames(options),
    );
  });

  test('is the same one query at a time, with the query-independent tables prepared', async () => {
    const workspace = createThreadsWorkspace(world);
    await prepareSignals(workspace, whole);
    const { pool, table } = await computeWorldTable(workspace);
    const F = names.length;
    for (const [query, { id }] of world.queries.entries()) {
      const some = workspace.withQueries([query]);
      const { pool: own, table: row }: { pool: typeof pool; table: SignalTable } = await computeWorldTable(some);
      const width = own.positions.filter((position) => position >= 0).length;
      const expected = table.values.subarray(query * pool.width * F, (query * pool.width + width) * F);
      for (const [i, value] of expected.entries())
        expect(Math.abs((row.values[i] as number) - value), `${names[i % F]} for ${id}`).toBeLessThan(
          1e-5 * (1 + Math.abs(value)),
        );
      some.dispose();
    }
    workspace.dispose();
  });

  test('of an encoder that the workspace does not know is refused', async () => {
    const workspace = createSampleWorkspace(drawSampleWorld(3, 23, 3, 2));
    await expect(computeWorldTable(workspace)).rejects.toThrow(UnavailableError);
    workspace.dispose();
  });

  test('under a control differs in structure alone', async () => {
    const workspace = createThreadsWorkspace(world);
    const { pool, table } = await computeWorldTable(workspace);
    const controlled = await workspace.under({ kind: 'shuffled-coordinates', seed: 3 }).get(signalTable(whole), pool);
    const differing = names.filter((_, f) =>
      table.values.some((value, i) => i % names.length === f && value !== controlled.values[i]),
    );
    workspace.dispose();
    expect(differing).toEqual(expect.arrayContaining(['difference.depth', 'trajectory.5', 'attention.tpo']));
    const structure = /^difference\.|^trajectory\.|^attention\.tpo$/;
    expect(differing.filter((name) => !structure.test(name))).toEqual([]);
  });
});
