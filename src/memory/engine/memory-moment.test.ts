import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { ConfigurationError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import { INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';
import { embedWords, serveSteps } from './served-arm.fixture.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const listBest = async (memory: Memory) =>
  (await memory.query({ embedding: QUERY, k: 3 })).candidates.map(({ recordId }) => recordId);

/** A memory with a removal, a replacement and an outcome of its best records. */
async function openChanged() {
  let time = 100;
  const memory = await openFilled({ history: true, clock: () => time, indexes: INDEXES }, 20);
  const best = await listBest(memory);
  const [first, second, third] = best.map((id) => RECORDS.find((record) => record.id === id) as MemoryRecordInput);
  time = 200;
  await memory.remove(first?.id as string);
  await memory.upsert([{ ...(second as MemoryRecordInput), embedding: QUERY.map((value) => -value) }]);
  time = 300;
  await memory.updateStats(third?.id as string, 1);
  return { memory, best };
}

test('a query as of a moment finds what was removed and replaced since, with the outcomes of then', async () => {
  const { memory, best } = await openChanged();
  const [then, now] = [await memory.at({ known: 199 }), await memory.at({ known: 300 })];
  expect([then.size, then.sequence, await listBest(then)]).toEqual([20, 1, best]);
  expect([now.size, now.position, await listBest(now)]).toEqual([19, memory.position, await listBest(memory)]);
  expect((await listBest(memory))[0]).toBe(best[2]);
  expect((await memory.at({ known: 200 })).getStats(best[2] as string)?.count).toBe(0);
  expect(now.getStats(best[2] as string)?.count).toBe(1);
  const ask = (asked: Memory) => asked.query({ embedding: QUERY, k: 3, pool: 'stats' });
  expect([(await ask(then)).prior.count, (await ask(memory)).prior.count]).toEqual([0, 1]);
  await memory.close();
  await then.close();
});

test('each index of a moment is exact, by its own distance', async () => {
  const indexes = { far: { index: 'hnsw', distance: 'l2' }, near: { index: 'flat' } } as const;
  const memory = await openFilled({ history: true, indexes }, 9);
  const then = await memory.at({ sequence: 1 });
  expect(then.indexNames).toEqual(['far', 'near']);
  for (const name of then.indexNames)
    expect(await then.search(name, QUERY, 9)).toEqual(await memory.search(name, QUERY, 9));
  await then.close();
  await memory.close();
});

test('the memory of a moment refuses changes; a memory without a history, and a closed one, have no moment', async () => {
  const { memory, best } = await openChanged();
  const then = await memory.at({ sequence: 1 });
  const refused = /^memory store is read-only: as of change 1; change the present memory$/;
  const [id] = best as [string];
  for (const change of [
    () => then.add({ ...(RECORDS[30] as MemoryRecordInput) }),
    () => then.remove(id),
    () => then.updateStats(id, 1),
    () => then.removeWhere({ filter: "channel = 'odd'" }),
  ])
    await expect(change()).rejects.toThrow(refused);
  expect((await then.removeWhere({ filter: "channel = 'odd'" }, { dryRun: true })).removed).toHaveLength(10);
  await then.close();
  await expect(memory.at({ sequence: 5 })).rejects.toThrow(ValidationError);
  await memory.close();
  await expect(memory.at({ sequence: 1 })).rejects.toThrow('memory is closed');
  const plain = await openFilled({}, 3);
  await expect(plain.at({ sequence: 1 })).rejects.toThrow('memory has no history; open it with history: true');
  await plain.close();
  await expect(openMemory({ dimension: 2, clock: 3 as never })).rejects.toThrow(ConfigurationError);
});

const record = (id: string, context: string, hour: number, metadata: MemoryRecordInput['metadata'] = {}) => ({
  ...{ id, context, createdAt: hour * HOUR, embedding: embedWords(context), conversationId: 'kitchen', metadata },
});
const fact = (id: string, object: string, hour: number) =>
  record(id, `ana works at ${object}`, hour, { memoryType: 'semantic', subject: 'ana', predicate: 'works at', object });

test('an arm that curates facts answers as it did before a correction, and after it', async () => {
  const arm = serveSteps([{ search: { bm25: { k: 9 } } }, { curate: { facts: 'anyone', tombstone: 0.25 } }]);
  const memory = await openMemory({ arm, history: true });
  const ask = async (asked: Memory) => (await asked.ask({ text: 'where does ana work at' })).ranking;
  const answers = [];
  for (const next of [fact('orla', 'orla', 1), record('soup', 'ana eats soup', 2), fact('brin', 'brin', 3)]) {
    await memory.add(next);
    answers.push(await ask(memory));
  }
  await memory.upsert([fact('brin', 'orla', 3)]); // the correction is withdrawn
  answers.push(await ask(memory));
  await memory.remove('orla');
  answers.push(await ask(memory));
  const { numTensors } = tf.memory();
  for (const [i, answer] of answers.entries()) {
    const then = await memory.at({ sequence: i + 1 });
    expect(await ask(then)).toEqual(answer);
    await then.close();
  }
  expect(tf.memory().numTensors).toBe(numTensors);
  const scores = answers.map((ranking) => ranking.find(({ id }) => id === 'orla')?.score);
  expect([scores[2], scores[3], scores[4]]).toEqual([
    expect.closeTo((scores[3] as number) / 4, 5),
    expect.any(Number),
    undefined,
  ]);
  await memory.close();
});

test('an arm that leaves out what was superseded finds it at the moments before', async () => {
  const arm = serveSteps([{ filter: 'not exists supersededBy' }, { search: { bm25: { k: 9 } } }]);
  const memory = await openMemory({ arm, history: true });
  const [old, next] = [record('old', 'the salt is in the blue box', 1), record('new', 'the salt is in the red box', 2)];
  await memory.addBatch([old, next]);
  await memory.upsert([{ ...old, metadata: { supersededBy: 'new' } }]);
  const listAt = async (sequence: number) => {
    const then = await memory.at({ sequence });
    const { ranking, sequence: known } = await then.ask({ text: 'which blue box has the salt' });
    await then.close();
    return [known, ...ranking.map(({ id }) => id)];
  };
  expect([await listAt(0), await listAt(1), await listAt(2)]).toEqual([[0], [1, 'old', 'new'], [2, 'new']]);
  await memory.close();
});
