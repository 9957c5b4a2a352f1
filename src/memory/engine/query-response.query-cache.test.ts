import { expect, test } from 'vitest';
import { QueryCache } from './query-response.ts';

const OPTIONS = { maxEntries: 2, ttlSeconds: 300, enabled: true };

function createAsked(options = OPTIONS) {
  const clock = { time: 1, now: () => clock.time };
  const cache = new QueryCache<{ value: number }>(options, clock);
  let computed = 0;
  const ask = async (query: unknown, sequence = 0) =>
    (await cache.answer(query, sequence, async () => ({ value: ++computed }))).value;
  return { clock, cache, ask };
}

test('equal queries at one state of the store have one answer', async () => {
  const { ask } = createAsked();
  expect(await ask({ k: 1, v: new Float32Array([1, 2]) })).toBe(1);
  expect(await ask({ v: new Float32Array([1, 2]), k: 1 })).toBe(1);
  expect(await ask({ k: 1, v: new Float32Array([1, 3]) })).toBe(2);
  expect(await ask({ k: 1, v: new Float32Array([1, 2]) }, 1)).toBe(3);
});

test('the least recently used answer makes place', async () => {
  const { ask, cache } = createAsked();
  await ask('a');
  await ask('b');
  await ask('a');
  await ask('c');
  expect(cache.size).toBe(2);
  expect(await ask('a')).toBe(1);
  expect(await ask('b')).toBe(4);
});

test('an answer is kept for its time', async () => {
  const { ask, clock } = createAsked();
  await ask('a');
  clock.time += 299_999;
  expect(await ask('a')).toBe(1);
  clock.time += 2;
  expect(await ask('a')).toBe(2);
});

test('an error is not kept, and a cache that is off keeps nothing', async () => {
  const { cache, ask } = createAsked();
  await expect(cache.answer('a', 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await ask('a')).toBe(1);
  const off = createAsked({ ...OPTIONS, enabled: false });
  expect(await off.ask('a')).toBe(1);
  expect(await off.ask('a')).toBe(2);
});
