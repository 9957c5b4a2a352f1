import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DimensionMismatchError, DuplicateRecordError } from '../../core/errors/errors.ts';
import { Conversation, compareTurns } from '../../model/turns/conversation.ts';
import { type MemoryRecord, type MemoryRecordInput, toTurn } from '../../model/turns/turn.ts';
import { countComponents } from '../../ops/trajectory/complexity.ts';
import { computeTrajectoryCoordinates } from '../../ops/trajectory/coordinates.ts';
import { openCurator } from '../curation/curator.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-coordinates-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const nameFolder = () => join(root, `memory-${++folders}`);

const D = 3;
const TEXTS = [
  'Yes.',
  'The deploy failed and Ada restarted it.',
  'It runs in Oslo, London and Rome since Tuesday.',
  ' ',
];
const open = (folder: string | null = null) =>
  openMemory({ folder, dimension: D, indexes: {}, fsync: 'never', coordinates: true });

/** Records of few conversations; a parent may be missing, later, the record itself, or of another conversation. */
const drawnRecord = fc.record({
  id: fc.nat(30).map((i) => `r${i}`),
  conversationId: fc.constantFrom('a', 'a', 'b'),
  parentId: fc.option(
    fc.nat(30).map((i) => `r${i}`),
    { freq: 8 },
  ),
  createdAt: fc.nat(9).map((i) => i * 1000),
  context: fc.constantFrom(...TEXTS),
  embedding: fc
    .array(fc.integer({ min: -2, max: 2 }), { minLength: D, maxLength: D })
    .map((values) => Float32Array.from(values)),
});
const drawnRecords = fc.uniqueArray(drawnRecord, { selector: ({ id }) => id, minLength: 1, maxLength: 20 });

const sortByTime = <R extends MemoryRecordInput>(records: readonly R[]) =>
  [...records].sort((a, b) => compareTurns(toTurn(a as MemoryRecord), toTurn(b as MemoryRecord)));

/** The coordinates of the last record by the definition, over the records up to it. */
function computeByDefinition(records: readonly MemoryRecordInput[]) {
  const last = records.at(-1) as MemoryRecord;
  if (last.context.trim() === '') return null;
  const turns: ReturnType<typeof toTurn>[] = [];
  for (const record of records) {
    if (record.context.trim() === '' || record.conversationId !== last.conversationId) continue;
    const isKnown = turns.some(({ id }) => id === record.parentId);
    const turn = toTurn({ outcome: null, metadata: {}, author: null, channel: null, ...record } as MemoryRecord);
    turns.push({ ...turn, parentId: isKnown ? (record.parentId as string) : null });
  }
  const features = new Map(
    records.map(({ id, embedding, context }) => [id, { embedding, components: countComponents(context) }]),
  );
  const { names, values } = computeTrajectoryCoordinates(new Conversation(last.conversationId, turns), features, {
    dimensions: 5,
  });
  return Object.fromEntries(names.map((name, column) => [name, values.at(column - names.length)]));
}

const listCoordinates = (memory: Memory) =>
  Object.fromEntries(Array.from(memory.records(), ({ id, trajectory }) => [id, trajectory]));

test('records in the order of their times get the coordinates of the conversation that ends with them', async () => {
  await fc.assert(
    fc.asyncProperty(drawnRecords, fc.nat(20), async (drawn, restartAt) => {
      const records = sortByTime(drawn);
      const folder = nameFolder();
      let memory = await open(folder);
      for (const [i, record] of records.entries()) {
        if (i === restartAt) {
          await memory.close();
          memory = await open(folder);
        }
        await memory.add(record);
        expect(memory.get(record.id)?.trajectory).toEqual(computeByDefinition(records.slice(0, i + 1)));
      }
      const oneByOne = listCoordinates(memory);
      await memory.close();
      const [batch, atOnce] = [await open(), await open()];
      await batch.addBatch(drawn);
      await Promise.all(records.map((record) => atOnce.add(record)));
      expect([listCoordinates(batch), listCoordinates(atOnce)]).toEqual([oneByOne, oneByOne]);
      await batch.close();
      await atOnce.close();
    }),
    { numRuns: 25 },
  );
});

test('a removed record is no parent and no sibling of later ones, and a replaced one is read again', async () => {
  await fc.assert(
    fc.asyncProperty(drawnRecords, fc.nat(19), fc.boolean(), async (drawn, at, isReplaced) => {
      const [last, ...others] = sortByTime(drawn).reverse() as [MemoryRecordInput, ...MemoryRecordInput[]];
      const memory = await open();
      await memory.addBatch(others);
      const changed = others[at % Math.max(1, others.length)];
      const after = { ...changed, context: TEXTS[2], conversationId: 'b' } as MemoryRecordInput;
      if (changed !== undefined && isReplaced) await memory.upsert([after]);
      else if (changed !== undefined) await memory.remove(changed.id);
      await memory.add(last);
      const known = others.flatMap((record) => (record === changed ? (isReplaced ? [after] : []) : [record]));
      expect(memory.get(last.id)?.trajectory).toEqual(computeByDefinition([...sortByTime(known), last]));
      await memory.close();
    }),
    { numRuns: 40 },
  );
});

const note = (id: string, context = TEXTS[1] as string) => {
  return { id, context, createdAt: 5, conversationId: 'a', embedding: Float32Array.of(1, 0, 0) };
};
const OWN = { depth: 3, siblingOrder: 0, homogeneity: 0, temporal: 0, complexity: 9 };

test('a trajectory that is given is kept, and without the option there is none', async () => {
  const memory = await open();
  await memory.addBatch([{ ...note('own'), trajectory: OWN }, note('other')]);
  expect(memory.get('own')?.trajectory).toEqual(OWN);
  expect(memory.get('other')?.trajectory).toMatchObject({ depth: 0, homogeneity: 1 });
  await expect(memory.addBatch([note('x'), note('x')])).rejects.toThrow(DuplicateRecordError);
  await expect(memory.add({ ...note('x'), embedding: new Float32Array(2) })).rejects.toThrow(DimensionMismatchError);
  await expect(memory.add({ ...note('x'), createdAt: Number.NaN })).rejects.toThrow('record x');
  await memory.close();
  const plain = await openMemory({ dimension: D });
  await plain.add(note('plain'));
  expect(plain.get('plain')?.trajectory).toBeNull();
  await plain.close();
});

test('a curated record has coordinates, and its decision can be undone', async () => {
  const memory = await openMemory({ dimension: D, coordinates: true });
  const curator = await openCurator(memory, nameFolder(), {}, { fsync: 'never' });
  await curator.curate(note('first'));
  await curator.curate({ ...note('second', TEXTS[2]), parentId: 'first', createdAt: 9 });
  expect(memory.get('second')?.trajectory).toMatchObject({ depth: 1, siblingOrder: 0, homogeneity: 1, temporal: 1 });
  expect([await curator.undo('all'), memory.size]).toEqual([2, 0]);
  await curator.close();
  await memory.close();
});
