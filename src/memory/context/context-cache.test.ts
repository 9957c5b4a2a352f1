import { expect, test } from 'vitest';
import { ContextCache } from './context-cache.ts';
import { makeItem } from './items.fixture.ts';

const HOUR = 3_600_000;

function createCounted(maxEntries?: number) {
  const state = { calls: 0, fails: false };
  const memories = async () => {
    state.calls++;
    if (state.fails) throw new Error('away');
    return [makeItem(`m${state.calls}`, { text: 'a cherry tree', timestamp: 0 })];
  };
  const cache = new ContextCache({ memories }, maxEntries);
  const ask = (question: string, options = {}, version = 'v1', now = HOUR) =>
    cache.assemble(question, options, { now, version });
  return { state, cache, ask };
}

test('a question is found by its text, its options with their defaults, and the version', async () => {
  const { state, cache, ask } = createCounted();
  const first = await ask('cherry');
  expect(await ask('cherry', { budget: 2000 })).toEqual(first);
  expect([state.calls, cache.use]).toEqual([1, { hits: 1, misses: 1, size: 1 }]);
  for (const [question, options, version] of [
    ['cherries', {}, 'v1'],
    ['cherry', { session: 's1' }, 'v1'],
    ['cherry', { budget: 1999 }, 'v1'],
    ['cherry', {}, 'v2'],
  ] as const)
    expect((await ask(question, options, version)).sources[0]?.items).not.toEqual(first.sources[0]?.items);
  expect(cache.use).toEqual({ hits: 1, misses: 5, size: 5 });
});

test('the ages of a kept context are those of the moment that asks', async () => {
  const { ask } = createCounted();
  expect((await ask('cherry')).prompt).toContain('(memory:s1, 1 hour ago)');
  const later = await ask('cherry', {}, 'v1', 50 * HOUR);
  expect(later.prompt).toContain('(memory:s1, 2 days ago)');
  expect(later.items.map(({ id }) => id)).toEqual(['m1']);
});

test('the dates of a kept context are those of the first answer', async () => {
  const { ask, cache } = createCounted();
  const dated = '(memory:s1, Thursday 1970-01-01 01:00 Europe/Berlin, ';
  for (let i = 0; i < 2; i++)
    expect((await ask('When was it?', { timeZone: 'Europe/Berlin' })).prompt).toContain(dated);
  expect(cache.use.hits).toBe(1);
});

test('the least recently used context makes place', async () => {
  const { ask, cache } = createCounted(2);
  for (const question of ['a', 'b', 'a', 'c', 'a']) await ask(question);
  expect(cache.use).toEqual({ hits: 2, misses: 3, size: 2 });
  await ask('b');
  expect(cache.use.misses).toBe(4);
});

test('what a failed source lacks is not kept, nor an error', async () => {
  const { state, ask, cache } = createCounted();
  state.fails = true;
  expect((await ask('cherry')).sources[0]?.fault).toBe('away');
  state.fails = false;
  expect((await ask('cherry')).items).toHaveLength(1);
  await expect(ask(' ')).rejects.toThrow('a question with at least one letter');
  expect(cache.use.size).toBe(1);
});

test('a kept context cannot be changed by one who got it, nor by its source', async () => {
  const own = makeItem('m1');
  const cache = new ContextCache({ memories: async () => [own] });
  const { items } = await cache.assemble('cherry', {}, { now: 0, version: 'v1' });
  expect(() => (items as unknown[]).pop()).toThrow(TypeError);
  Object.assign(own, { text: 'other' });
  expect(await cache.assemble('cherry', {}, { now: 0, version: 'v1' })).toMatchObject({ items });
});

test.each([0, -1, 1.5, Number.NaN])('a cache of %d contexts is refused', (maxEntries) => {
  expect(() => new ContextCache({ memories: async () => [] }, maxEntries)).toThrow('size of the cache of contexts');
});

test('live records of a database are not kept', () => {
  const memories = async () => [];
  expect(() => new ContextCache({ memories, domain: memories })).toThrow('records of a database are live');
});
