import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { TextOwner } from '../../model/encoder.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';
import type { ArmQuestion } from './query-response.ts';
import { embedWords, serveSteps } from './served-arm.fixture.ts';
import type { ServedArm } from './served-arm.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const record = (id: string, context: string, hour: number, more: Partial<MemoryRecordInput> = {}) => ({
  ...{ id, context, createdAt: hour * HOUR, embedding: embedWords(context), conversationId: 'kitchen' },
  ...more,
});
const soup = record('soup', 'the lentil soup needs salt', 1, { outcome: 1 });
const bread = record('bread', 'bread for the soup', 2, { parentId: 'soup', outcome: 0 });
const train = record('train', 'the train was late', 3, { conversationId: 'travel' });
const salt = record('salt', 'salt is in the blue box', 4, { parentId: 'bread' });

const words = serveSteps([{ search: { bm25: { k: 9 } } }]);
const threads = serveSteps([
  { search: { bm25: { k: 9 }, hnsw: { k: 9 } } },
  { fuse: { convex: { hnsw: 0.6, bm25: 'rest' } } },
  { blend: { trajectory: {}, unified: {} } },
]);

const open = async (arm: ServedArm, records: readonly MemoryRecordInput[] = [soup, bread, train, salt]) => {
  const memory = await openMemory({ arm });
  await memory.addBatch(records);
  return memory;
};
const listIds = async (memory: Memory, question: ArmQuestion) =>
  (await memory.ask(question)).ranking.map(({ id }) => id);

test('an arm answers with the parts of each score, and the prior over the outcomes of its ranking', async () => {
  const memory = await open(threads);
  const { ranking, prior, arm, asOf, sequence } = await memory.ask({ text: 'soup with salt', k: 3 });
  expect(ranking).toHaveLength(3);
  expect(Object.keys(ranking[0]!.parts)).toEqual(expect.arrayContaining(['hnsw', 'bm25', 'trajectory', 'unified']));
  expect([prior.count, prior.mean, arm, asOf, sequence]).toEqual([2, 0.5, 'served', 4 * HOUR + 1, 1]);
  await memory.close();
});

test('an answer follows every change before it, and knows what was there at its moment', async () => {
  const memory = await open(words, [soup, bread]);
  const asked = { text: 'soup salt' };
  expect(await listIds(memory, asked)).toEqual(['soup', 'bread']);
  await memory.addBatch([train, salt]);
  expect(await listIds(memory, asked)).toEqual(['soup', 'bread', 'salt']);
  expect(await listIds(memory, { ...asked, asOf: 2 * HOUR })).toEqual(['soup']);
  expect(await listIds(memory, { ...asked, asOf: HOUR })).toEqual([]);
  await memory.remove('soup'); // the parent of bread
  expect(await listIds(memory, asked)).toEqual(['bread', 'salt']);
  await memory.upsert([record('train', 'salt soup, salt soup', 3)]);
  expect((await listIds(memory, asked))[0]).toBe('train');
  await memory.close();
});

test('an outcome that is observed later is in the prior, and makes nothing stale', async () => {
  const memory = await open(words);
  const before = await memory.ask({ text: 'soup' });
  const { numTensors } = tf.memory();
  await memory.updateStats('soup', 0);
  const after = await memory.ask({ text: 'soup' });
  expect([before.prior.mean, before.sequence]).toEqual([0.5, 1]);
  expect([after.prior.mean, after.sequence]).toEqual([expect.closeTo(1 / 3), 2]);
  expect(after.ranking).toEqual(before.ranking);
  expect(tf.memory().numTensors).toBe(numTensors);
  await memory.close();
});

test('a question may ask one conversation; one that has no record yet has no answer', async () => {
  const memory = await open(words);
  expect(await listIds(memory, { text: 'the soup', conversationId: 'travel' })).toEqual(['train']);
  expect(await listIds(memory, { text: 'the soup', conversationId: 'garden' })).toEqual([]);
  expect(await listIds(await open(words, []), { text: 'the soup' })).toEqual([]);
  await memory.close();
});

test('the answer after a change is that of a memory that was opened with all of it', async () => {
  const [grown, whole] = [await open(threads, []), await open(threads)];
  for (const next of [soup, bread, train, salt]) {
    await grown.add(next);
    await grown.ask({ text: 'salt' });
  }
  const question = { text: 'bread and salt', anchorTurnId: 'bread', asOf: 5 * HOUR };
  expect((await grown.ask(question)).ranking).toEqual((await whole.ask(question)).ranking);
  await grown.close();
  await whole.close();
});

test('a parent that is gone, later or elsewhere, and a record without a text, are no error', async () => {
  const odd = [
    record('a', 'soup of the first', 5, { parentId: 'gone' }),
    record('b', 'soup of the second', 1, { parentId: 'a' }),
    record('c', 'soup of the third', 6, { parentId: 'a', conversationId: 'travel' }),
    record('d', ' ', 7),
  ];
  const memory = await open(threads, odd);
  expect((await listIds(memory, { text: 'soup' })).sort()).toEqual(['a', 'b', 'c']);
  await memory.close();
});

test('a sensitive question is embedded as one', async () => {
  const owners: TextOwner[] = [];
  const arm = serveSteps([{ search: { flat: { k: 9 } } }], {
    embed: (texts, own) => {
      owners.push(...own);
      return words.embed(texts, own, null);
    },
  });
  const memory = await open(arm);
  await memory.ask({ text: 'soup', attributes: { sensitive: true }, id: 'q' });
  expect(owners).toEqual([{ kind: 'query', id: 'q', sensitive: true }]);
  await memory.close();
});

test('no tensor is left of answers, of a question that cannot be asked, or of a memory that is closed', async () => {
  const before = tf.memory().numTensors;
  const memory = await open(threads);
  await memory.ask({ text: 'soup' });
  await expect(memory.ask({ text: 'soup', anchorTurnId: 'none' })).rejects.toThrow('corpus has no turn: none');
  await memory.add(record('late', 'soup again', 9));
  await memory.ask({ text: 'soup' });
  await memory.close();
  expect(tf.memory().numTensors).toBe(before);
  await expect(memory.ask({ text: 'soup' })).rejects.toThrow('memory is closed');
});

test('a memory without an arm, and a question without a word, say what to do', async () => {
  const memory = await openMemory({ dimension: 2 });
  await expect(memory.ask({ text: 'soup' })).rejects.toThrow(
    'memory has no arm to answer by; open it with the option arm',
  );
  await expect(memory.ask({ text: ' ' })).rejects.toThrow('a question with at least one letter');
  await memory.close();
});
