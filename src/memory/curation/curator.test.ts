import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  ConfigurationError,
  DimensionMismatchError,
  DuplicateRecordError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { listSegments } from '../../core/journal/segments.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { type Curator, openCurator } from './curator.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-curation-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'log');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const TEXTS = [
  'Ada lives in London',
  'ada lives in london',
  'Ada lives in London near the river',
  'Ada no longer lives in London',
  'The deploy takes 7 minutes',
  'The deploy takes 9 minutes',
];
/** Texts of one subject have almost the same vector. */
const createRecord = (id: string, text: number, sensitive = false) => ({
  id,
  embedding: text < 4 ? Float32Array.of(1, text / 50) : Float32Array.of(text / 50, -1),
  context: TEXTS[text] as string,
  createdAt: text,
  metadata: sensitive ? { sensitive } : {},
});

async function withCurator(work: (curator: Curator, memory: Memory) => Promise<void>): Promise<void> {
  const memory = await openMemory({ dimension: 2 });
  const curator = await openCurator(memory, folder, {}, { fsync: 'never' });
  await work(curator, memory);
  await curator.close();
  await memory.close();
}
const list = (memory: Memory) => JSON.stringify([...memory.records()]);
const show = (memory: Memory) => [...memory.records()].map(({ id, context }) => `${id}: ${context}`);

test('a record is added, dropped, merged, or takes the place of one that it contradicts', () =>
  withCurator(async (curator, memory) => {
    const operations: string[] = [];
    for (const [i, text] of [0, 1, 2, 3, 4, 5].entries()) {
      const { operation, target } = await curator.curate(createRecord(`r${i}`, text));
      operations.push(`${operation} ${target}`);
    }
    expect(operations).toEqual(['add null', 'noop r0', 'update r0', 'delete r0', 'add null', 'delete r4']);
    expect(show(memory)).toEqual([
      'r0: Ada lives in London near the river',
      'r3: Ada no longer lives in London',
      'r4: The deploy takes 7 minutes',
      'r5: The deploy takes 9 minutes',
    ]);
    expect(memory.get('r0')?.metadata).toEqual({ importance: 0.3, status: 'superseded', supersededBy: 'r3' });
    const held = await memory.search(memory.indexNames[0] as string, Float32Array.of(1, 0), 4, {
      filter: "not status = 'superseded'",
    });
    expect(held.map(({ id }) => id).sort()).toEqual(['r3', 'r5']);
    expect(curator.entries()[3]).toMatchObject({ reason: 'correction', neighbours: [{ id: 'r0' }] });
    expect(curator.entries()[3]?.neighbours[0]?.cosine).toBeCloseTo(0.9998, 3);
  }));

test('ten neighbours are compared behind any number of tombstones and sensitive records', () =>
  withCurator(async (curator, memory) => {
    const place = (i: number, metadata: Record<string, string | boolean>, text: number) => ({
      ...createRecord(`m${i}`, text),
      embedding: Float32Array.of(1, i / 1000),
      metadata,
    });
    for (let i = 0; i < 50; i++)
      await memory.add(place(i, i % 2 === 0 ? { status: 'superseded' } : { sensitive: true }, 4));
    for (let i = 50; i < 65; i++) await memory.add(place(i, {}, 4));
    await curator.curate({ ...place(0, {}, 0), id: 'new' });
    const compared = curator.entries()[0]?.neighbours.map(({ id }) => id);
    expect(compared).toEqual(Array.from({ length: 10 }, (_, i) => `m${50 + i}`));
  }));

test('undoing brings the memory back to what it was before each decision', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 12 }), async (drawn) => {
      rmSync(folder, { recursive: true, force: true });
      await withCurator(async (curator, memory) => {
        await memory.add(createRecord('first', 0));
        const states = [list(memory)];
        for (const [i, [text, sensitive]] of drawn.entries()) {
          await curator.curate(createRecord(`r${i}`, text, sensitive));
          states.push(list(memory));
        }
        const half = Math.floor(drawn.length / 2);
        expect(await curator.undo(half)).toBe(half);
        expect(list(memory)).toBe(states[drawn.length - half]);
        await curator.undo('all');
        expect([list(memory), curator.entries()]).toEqual([states[0], []]);
      });
    }),
    { numRuns: 25 },
  ));

test('a log that is opened again undoes what an earlier process did', async () => {
  const memory = await openMemory({ dimension: 2 });
  for (const part of [[0, 2], [3, 4], []]) {
    const curator = await openCurator(memory, folder);
    for (const text of part) await curator.curate(createRecord(`r${text}`, text));
    if (part.length === 0) expect(await curator.undo('all')).toBe(4);
    await curator.close();
  }
  expect(memory.size).toBe(0);
  await memory.close();
});

test('what a killed process had logged and not done is done when the log is opened, and never again', async () => {
  await withCurator(async (curator) => void (await curator.curate(createRecord('a', 0))));
  const segment = listSegments(folder)[0]?.path as string;
  truncateSync(segment, readFileSync(segment).byteLength - 1); // the entry that says it was done
  await withCurator(async (_, memory) => expect(show(memory)).toEqual(['a: Ada lives in London']));
  await withCurator(async (curator, memory) => expect([memory.size, curator.entries().length]).toEqual([0, 1]));
});

test('a sensitive record is added as it is, compared with none, and only its id is in the log', () =>
  withCurator(async (curator, memory) => {
    await curator.curate(createRecord('secret', 0, true));
    expect(await curator.curate(createRecord('other', 0, true))).toMatchObject({ reason: 'sensitive', neighbours: [] });
    expect(memory.size).toBe(2);
    const log = () => readFileSync(listSegments(folder)[0]?.path as string, 'utf8');
    expect(log()).not.toContain('London');
    expect(await curator.curate(createRecord('open', 0))).toMatchObject({ operation: 'add', neighbours: [] });
    expect(log()).toContain('London');
    expect(await curator.undo(2)).toBe(2);
    expect(show(memory)).toEqual(['secret: Ada lives in London']);
  }));

test('a decision whose record was changed since is not undone', () =>
  withCurator(async (curator, memory) => {
    await curator.curate(createRecord('a', 0));
    await memory.updateStats('a', 1);
    await expect(curator.undo()).rejects.toThrow(/record a was changed after the decision about a; bring it back/);
    await expect(curator.undo()).rejects.toThrow(ValidationError);
    expect([memory.size, curator.entries().length]).toEqual([1, 1]);
  }));

test('a record that cannot be added leaves no decision', () =>
  withCurator(async (curator, memory) => {
    await curator.curate(createRecord('a', 0));
    await expect(curator.curate(createRecord('a', 4))).rejects.toThrow(DuplicateRecordError);
    await expect(curator.curate({ ...createRecord('b', 4), embedding: Float32Array.of(1) })).rejects.toThrow(
      DimensionMismatchError,
    );
    await expect(curator.curate(createRecord('x'.repeat(3000), 4))).rejects.toThrow(ValidationError);
    expect([memory.size, curator.entries().length]).toEqual([1, 1]);
    await expect(openCurator(memory, `${folder}-2`, { neighbours: 0 })).rejects.toThrow(ConfigurationError);
  }));

test('another decider chooses among the neighbours', async () => {
  const memory = await openMemory({ dimension: 2 });
  const seen: string[][] = [];
  const curator = await openCurator(
    memory,
    folder,
    { neighbours: 1 },
    {
      decide: async (_, neighbours) => {
        seen.push(neighbours.map(({ record: { id } }) => id));
        const target = neighbours[0]?.record ?? null;
        return { operation: target === null ? 'add' : 'noop', reason: 'asked', target };
      },
    },
  );
  for (const text of [0, 4, 5]) await curator.curate(createRecord(`r${text}`, text));
  expect([seen, show(memory)]).toEqual([[[], ['r0'], ['r0']], ['r0: Ada lives in London']]);
  await curator.close();
  await memory.close();
});

test('decisions that a memory has lost, and decisions that were lost, are reported when the log is opened', async () => {
  const own = join(root, 'memory');
  const open = async () => {
    const memory = await openMemory({ dimension: 2, folder: own });
    return { memory, curator: await openCurator(memory, folder) };
  };
  const close = async ({ memory, curator }: Awaited<ReturnType<typeof open>>) => {
    await curator.close();
    await memory.close();
  };
  const first = await open();
  for (const text of [0, 4]) await first.curator.curate(createRecord(`r${text}`, text));
  expect(first.curator.warnings).toEqual([]);
  await close(first);
  const path = listSegments(own)[0]?.path as string;
  truncateSync(path, readFileSync(path).byteLength - 1);
  const second = await open();
  const lost = `memory store ${own} has lost change 2: 1 acknowledged at its end is missing; restore the folder from a copy, or make what is missing again`;
  expect([second.memory.warnings, second.curator.warnings]).toEqual([[lost], [lost]]);
  await second.memory.add(createRecord('other', 5));
  await close(second);
  const third = await open();
  expect(third.memory.warnings).toEqual([]);
  expect(third.curator.warnings).toEqual([
    `memory store ${own} has lost acknowledged changes: its change 2 is another one than it was; restore the folder from a copy`,
  ]);
  await close(third);
  truncateSync(listSegments(folder)[0]?.path as string, 0);
  const fourth = await open();
  expect(fourth.curator.warnings).toEqual([
    `curation log ${folder} has lost changes 1 to 4: 4 acknowledged at its end are missing; restore the folder from a copy, or make what is missing again`,
  ]);
  await close(fourth);
});
