import { join } from 'node:path';
import { findText, listTextForms } from '../../core/decoding/find-text.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import { type Curator, openCurator } from '../curation/curator.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { type FactStore, openFactStore } from '../facts/fact-store.ts';
import { type Consolidator, openConsolidator } from '../patterns/consolidator.ts';
import { openRetrievalLog, type RetrievalLog } from '../retrievals/retrieval-log.ts';

/** Is in every part of what is to be forgotten, and nowhere else. */
export const CANARY = 'canary-4711';
/** The conversation that is forgotten. */
export const SECRET_TALK = `talk ${CANARY}`;
/** Has the direction of no other record; its bytes are looked for as those of the text are. */
const SECRET_VECTOR = Float32Array.of(0.123456, -0.654321, 0.777123);
export const DIMENSION = SECRET_VECTOR.length;

const record = (id: string, createdAt: number, context: string, more: Partial<MemoryRecordInput> = {}) => {
  const embedding = Float32Array.of(1, createdAt / 10, 0);
  return { id, createdAt, context, embedding, conversationId: 'open talk', channel: 'hall', ...more };
};
const secret = (i: number, context: string, more: Partial<MemoryRecordInput> = {}): MemoryRecordInput => {
  const where = { conversationId: SECRET_TALK, author: 'ada', metadata: { userId: 'ada', topic: `about ${CANARY}` } };
  return record(`${CANARY}-${i}`, 10 + i, context, { embedding: SECRET_VECTOR, ...where, ...more });
};

export const OPEN_RECORDS: readonly MemoryRecordInput[] = [
  record('o1', 1, 'The printer in the hall prints blank pages.', { author: 'bob', outcome: 1 }),
  record('o2', 2, 'Ada ordered toner for the printer.', { metadata: { userId: 'bob' } }),
  record('o3', 3, 'Lunch was lentil soup.', { parentId: 'o2' }),
];
export const SECRET_RECORDS: readonly MemoryRecordInput[] = [
  secret(1, `The code of the safe is ${CANARY}.`, { outcome: 0 }),
  secret(2, `Again: ${CANARY} opens the safe.`, { parentId: `${CANARY}-1`, outcome: 1 }),
  secret(3, `Nobody else knows ${CANARY}.`),
];
/** Records of others that name a secret one, and facts that were made of one. */
const REPLY = record('reply', 20, 'Thank you.', { parentId: `${CANARY}-3` });
const FACT = record('fact', 21, `The safe opens by ${CANARY}`, {
  metadata: { memoryType: 'semantic', source: `${CANARY}-1` },
});

/** With l2 an index has the vectors as they are. */
const INDEXES = { exact: { index: 'flat', distance: 'l2' }, graph: { index: 'hnsw', distance: 'l2' } } as const;
export const openSite = (folder: string | null, readOnly = false, history = false) =>
  openMemory({ folder, dimension: DIMENSION, indexes: INDEXES, readOnly, history });

/** The logs in the folder of a memory. */
interface Logs {
  readonly curator: Curator;
  readonly consolidator: Consolidator;
  readonly retrievals: RetrievalLog;
  readonly facts: FactStore;
}

/** Works with the logs in the folder of a memory, then closes them. */
export async function withLogs<T>(memory: Memory, folder: string, work: (logs: Logs) => Promise<T>): Promise<T> {
  const options = { minEpisodes: 3, sentences: 3 };
  const logs = {
    curator: await openCurator(memory, join(folder, 'curation')),
    consolidator: await openConsolidator(memory, join(folder, 'consolidation'), options),
    retrievals: await openRetrievalLog(join(folder, 'retrievals')),
    facts: await openFactStore(join(folder, 'facts')),
  };
  try {
    return await work(logs);
  } finally {
    for (const log of Object.values(logs)) await log.close();
  }
}

/** Fills a folder with open and secret records, what was made of them, and logs about both. */
export async function fillSite(folder: string, history = false): Promise<void> {
  const memory = await openSite(folder, false, history);
  await memory.addBatch(OPEN_RECORDS);
  await withLogs(memory, folder, async ({ curator, consolidator, retrievals, facts }) => {
    for (const each of SECRET_RECORDS) await curator.curate(each);
    await curator.curate(record('o4', 4, 'The hall was painted.', { embedding: Float32Array.of(-1, 0, 0.5) }));
    await memory.addBatch([REPLY, FACT]);
    await consolidator.consolidate();
    const event = { query: 'the code?', strategy: 'exact', time: 1 };
    const first = await retrievals.record({ ...event, retrieved: ['o1', `${CANARY}-1`], teams: ['a', 'b'] });
    await retrievals.recordUse(first, [`${CANARY}-1`], 2);
    await retrievals.record({ ...event, retrieved: ['o2'] });
    const fact = { relation: 'opens', validFrom: 0 };
    await facts.assert({ ...fact, id: 'f1', source: `${CANARY}-1`, target: 'safe' }, 1);
    await facts.snapshot();
    await facts.assert({ ...fact, id: 'f2', source: 'key', target: 'door' }, 2);
    await facts.supersede('f2', { validUntil: 3, recordedAt: 3, by: 'f1' });
  });
  await memory.updateStats(`${CANARY}-1`, 0.5);
  await memory.updateStats('o1', 0.25);
  await memory.snapshot();
  await memory.upsert([{ ...(SECRET_RECORDS[0] as MemoryRecordInput), outcome: 1 }]); // also in the journal
  await memory.close();
}

const bytes = Buffer.from(SECRET_VECTOR.buffer);
const FORMS = [
  ...listTextForms(CANARY),
  { name: 'vector', bytes },
  { name: 'vector', bytes: Buffer.from(bytes.toString('base64')) },
];

/** The number of places with the canary or its vector, by the first name of a path, without numbers. */
export async function countCanaries(folder: string): Promise<Readonly<Record<string, number>>> {
  const { found, unread } = await findText(folder, FORMS);
  if (unread.length > 0) throw new Error(JSON.stringify(unread));
  const counts: Record<string, number> = {};
  for (const { path, form } of found) {
    const [first = '', ...rest] = path.split('/');
    const name = [
      first.replace(/^[\d-].*\.journal$/, 'journal').replace(/^snapshot-.*/, 'snapshot'),
      rest[0] ?? '',
    ].join('/');
    const key = `${first === 'indexes' ? name : name.split('/')[0]}: ${form}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
