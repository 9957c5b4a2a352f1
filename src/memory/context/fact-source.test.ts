import { expect, test } from 'vitest';
import { openFactStore } from '../facts/fact-store.ts';
import { assemble } from './assemble.ts';
import { ContextCache } from './context-cache.ts';
import { makeItem } from './items.fixture.ts';
import type { ContextSource } from './source.ts';

const day = (text: string) => Date.parse(`${text}T00:00Z`);
const NOW = day('2024-06-01');

/** Ann leaves Orla for Brin on 1 March, which the store learns on 20 March. */
async function openEmployers() {
  const store = await openFactStore(null);
  const works = { source: 'person:Ann', relation: 'works at' };
  await store.assert({ ...works, id: 'f1', target: 'Orla', validFrom: day('2020-01-01') }, day('2020-02-01'));
  await store.assert(
    { id: 'f3', source: 'Brin', relation: 'has_property', target: 'a garden', validFrom: day('2019-01-01') },
    day('2020-02-01'),
  );
  await store.assert({ ...works, id: 'f2', target: 'Brin', validFrom: day('2024-03-01') }, day('2024-03-20'));
  await store.supersede('f1', { validUntil: day('2024-03-01'), recordedAt: day('2024-03-20'), by: 'f2' });
  return store;
}

const none: ContextSource = async () => [];

test('facts are those about what the question names, that hold at its moment and were known then', async () => {
  const facts = await openEmployers();
  const ask = async (question: string, now = NOW, options = {}) =>
    (await assemble(question, { rerank: 'none', ...options }, { memories: none, facts }, { now })).items;
  const texts = async (question: string, now = NOW) => (await ask(question, now)).map(({ text }) => text);
  const [brin, garden] = ['person:Ann works at Brin, since 2024-03-01', 'Brin has a garden, since 2019-01-01'];
  expect(await texts('Whom does Ann work for?')).toEqual([brin]);
  expect(await texts('Whom does Ann work for?', day('2024-03-10'))).toEqual([
    'person:Ann works at Orla, since 2020-01-01',
  ]);
  expect(await texts('Does Ann like Brin?')).toEqual([brin, garden]);
  expect(await texts('Where did Ann work in 2022?')).toEqual([
    'person:Ann works at Orla, since 2020-01-01 until 2024-03-01',
  ]);
  expect(await texts('When did Ann leave?')).toEqual([
    brin,
    'person:Ann works at Orla, since 2020-01-01 until 2024-03-01',
  ]);
  expect(await texts('Where is the cherry tree?')).toEqual([]);
  expect(await texts('Whom does Ann work for?', day('2020-01-15'))).toEqual([]);
  expect(await ask('Whom does Ann work for?', NOW, { strategy: 'episodic' })).toEqual([]);
  expect(await ask('Whom does Ann work for?', NOW, { session: 's1' })).toEqual([]);
});

test('facts and memories are one order by their ranks, and a change of the facts is in the next context', async () => {
  const facts = await openEmployers();
  const memories: ContextSource = async () => [
    makeItem('m1', { score: 9, timestamp: 0 }),
    makeItem('m2', { score: 8 }),
  ];
  const cache = new ContextCache({ memories, facts });
  const ask = () =>
    cache.assemble('Whom does Ann work for?', { rerank: 'none', cite: true }, { now: NOW, version: '' });
  const { items, prompt } = await ask();
  expect(items.map(({ id }) => id)).toEqual(['m1', 'fact:f2', 'm2']);
  expect(prompt).toContain(
    '- [fact:f2] person:Ann works at Brin, since 2024-03-01 (facts, Friday 2024-03-01 00:00 UTC; names Ann; recorded 2024-03-20)\n',
  );
  expect(prompt).toMatch(/- \[m1\] m1 x+ \(memory:s1, Thursday 1970-01-01 00:00 UTC, 54 years ago\)\n/);
  await ask();
  await facts.supersede('f2', { validUntil: day('2024-05-01'), recordedAt: day('2024-05-02') });
  expect((await ask()).items.map(({ id }) => id)).toEqual(['m1', 'm2']);
  expect(cache.use).toMatchObject({ hits: 1, misses: 2 });
});
