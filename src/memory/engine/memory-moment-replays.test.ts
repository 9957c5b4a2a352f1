import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Attributes } from '../../model/turns/memory-fields.ts';
import type { MemoryRecord, MemoryRecordInput } from '../../model/turns/turn.ts';
import type { StoreMoment } from '../store/record-history.ts';
import type { Memory } from './memory.ts';
import type { MemoryInput } from './memory-options.ts';
import { openMemory } from './open-memory.ts';
import { embedWords, serveSteps } from './served-arm.fixture.ts';

beforeAll(() => useBackend('wasm'));
const root = mkdtempSync(join(tmpdir(), 'ragpp-moments-'));
afterAll(() => rmSync(root, { recursive: true }));

const HOUR = 3_600_000;
const WORDS = ['soup', 'salt', 'bread', 'train', 'late', 'blue', 'box', 'door'];
const RUNS = 25;
const CHANGES = 50;
const MOMENTS = 40;

const arm = serveSteps([
  { filter: 'not exists supersededBy' },
  { search: { bm25: { k: 7 }, hnsw: { k: 5 } } },
  { fuse: { convex: { hnsw: 0.6, bm25: 'rest' } } },
  { boost: [{ attribute: 'importance', factor: 0.5 }] },
  { curate: { facts: 'anyone' } },
]);
const openArm = (folder: string | null, more: Partial<MemoryInput> = {}) =>
  openMemory({
    ...{ folder, arm, fsync: 'never', indexes: { exact: { index: 'flat' } }, reranker: { method: 'outcome' } },
    ...more,
  });

type Random = ReturnType<typeof createRandom>;
type Change = (memory: Memory) => Promise<unknown>;

const pick = <T>(random: Random, from: readonly T[]) => from[random.integer(from.length)] as T;

function drawRecord(random: Random): MemoryRecordInput {
  const i = random.integer(11);
  const context = Array.from({ length: 4 }, () => pick(random, WORDS)).join(' ');
  const fact: Attributes = { memoryType: 'semantic', subject: 'ana', predicate: 'likes', object: pick(random, WORDS) };
  const metadata = { importance: random.integer(5) / 4, ...(random.integer(3) === 0 && fact) };
  const parentId = random.integer(2) === 0 ? `r${random.integer(11)}` : null;
  const place = { conversationId: `talk ${i % 2}`, parentId: parentId === `r${i}` ? null : parentId };
  const outcome = random.integer(3) === 0 ? null : random.integer(5) / 4;
  const createdAt = (1 + random.integer(20)) * HOUR;
  return { id: `r${i}`, context, embedding: embedWords(context), createdAt, metadata, outcome, ...place };
}

/** A change of a record that is there: the same function of it wherever the same changes came before. */
function changeRecord(memory: Memory, id: string, change: (record: MemoryRecord) => MemoryRecordInput) {
  const record = memory.get(id);
  return record === null ? Promise.resolve() : memory.upsert([change(record)]);
}

function drawChange(random: Random): Change {
  const record = drawRecord(random);
  const [id, other, value] = [`r${random.integer(11)}`, `r${random.integer(11)}`, random.integer(5) / 4];
  const more = { ...drawRecord(random), id: 'more' };
  const kinds: readonly Change[] = [
    async (memory) => memory.get(record.id) === null && memory.addBatch([record]),
    (memory) => memory.upsert([record, more]),
    (memory) => memory.remove(id),
    async (memory) => memory.get(id) !== null && memory.updateStats(id, value),
    (memory) =>
      changeRecord(memory, id, (old) => ({
        ...old,
        metadata: { ...old.metadata, supersededBy: other, importance: 0.3 },
      })),
    (memory) => changeRecord(memory, id, (old) => ({ ...old, context: `${old.context} again` })), // the same vector
  ];
  return pick(random, kinds);
}

/** Records and answers of a memory. */
async function describeMemory(memory: Memory, random: Random) {
  const text = `${pick(random, WORDS)} ${pick(random, WORDS)}`;
  const asOf = random.integer(2) === 0 ? {} : { asOf: random.integer(22) * HOUR };
  const { latency: _, ...answer } = await memory.query({ embedding: embedWords(text), k: 4, weighted: true, ...asOf });
  const found = await memory.searchOnly(embedWords(text), 5);
  return [[...memory.records()], answer, found, await memory.ask({ text, k: 5, ...asOf })] as const;
}

/** A memory with a history, and its last change at each time. */
interface Played {
  readonly memory: Memory;
  readonly changes: readonly { readonly time: number; readonly sequence: number }[];
}

/** Plays changes into a memory with a history, which writes snapshots and is opened again in between. */
async function play(changes: readonly Change[], random: Random, folder: string | null): Promise<Played> {
  let time = 0;
  const clock = () => time;
  const made: { readonly time: number; readonly sequence: number }[] = [];
  let memory = await openArm(folder, { history: true, clock });
  for (const change of changes) {
    time += random.integer(3);
    await change(memory);
    made.push({ time, sequence: memory.sequence });
    const event = random.integer(8);
    if (event === 0) await memory.snapshot();
    if (event > 1 || folder === null) continue;
    await memory.close();
    const history = memory.sequence === 0 || random.integer(2) === 0; // a folder with a history keeps it by itself
    memory = await openArm(folder, { history, clock });
  }
  return { memory, changes: made };
}

/** A memory to which only the changes up to one were made. */
async function replay(changes: readonly Change[], sequence: number): Promise<Memory> {
  const memory = await openArm(null);
  for (const change of changes) {
    if (memory.sequence === sequence) break;
    await change(memory);
  }
  return memory;
}

/** A moment by the number of its last change, or by its time. */
function drawMoment(random: Random, { memory, changes }: Played): { readonly moment: StoreMoment; sequence: number } {
  const sequence = random.integer(memory.sequence + 1);
  if (random.integer(2) === 0) return { moment: { sequence }, sequence };
  const known = random.integer((changes.at(-1)?.time as number) + 1);
  return { moment: { known }, sequence: changes.findLast(({ time }) => time <= known)?.sequence ?? 0 };
}

test.each(Array.from({ length: RUNS }, (_, run) => run))(
  `${MOMENTS} random moments of ${CHANGES} random changes equal a replay, run %i`,
  async (run) => {
    const random = createRandom(run, 'moments');
    const changes = Array.from({ length: CHANGES }, () => drawChange(random));
    const played = await play(changes, random, run % 5 === 0 ? null : join(root, String(run)));
    for (let i = 0; i < MOMENTS; i++) {
      const { moment, sequence } = drawMoment(random, played);
      const [then, again] = [await played.memory.at(moment), await replay(changes, sequence)];
      const question = `question ${i}`;
      expect(await describeMemory(then, createRandom(run, question))).toEqual(
        await describeMemory(again, createRandom(run, question)),
      );
      await then.close();
      await again.close();
    }
    await played.memory.close();
  },
);
