import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { openMemory } from '../engine/open-memory.ts';
import { embedWords, serveSteps } from '../engine/served-arm.fixture.ts';
import { assemble } from './assemble.ts';

beforeAll(() => useBackend('wasm'));

test('what was removed is gone from the next prompt, and what was added is in it', async () => {
  const arm = serveSteps([{ search: { bm25: { k: 9 } } }]);
  const memory = await openMemory({ arm, cache: { enabled: false } });
  const source = createRandom(5, 'interleavings');
  const live: string[] = [];
  let count = 0;
  for (let step = 0; step < 10_000; step++) {
    const kind = source.uniform();
    if (live.length < 3 || (kind < 0.3 && live.length < 12)) {
      live.push(`w${count}`);
      const context = `the word w${count} in the soup`;
      await memory.add({ id: `w${count}`, context, createdAt: count, embedding: embedWords(context) });
      count++;
    } else if (kind < 0.55) await memory.remove(live.splice(source.integer(live.length), 1)[0] as string);
    else {
      const asked = source.uniform() < 0.5 ? (live.at(-1) as string) : `w${source.integer(count)}`;
      const options = { strategy: 'hybrid', rerank: 'none' } as const;
      const { prompt } = await assemble(`${asked} soup`, options, { memories: memory }, { now: count });
      const shown = new Set(prompt.slice(prompt.indexOf('##')).match(/w\d+/g));
      expect(shown.has(asked)).toBe(live.includes(asked));
      for (const id of shown) expect(live).toContain(id);
    }
  }
  expect(count).toBeGreaterThan(2000);
  await memory.close();
});
