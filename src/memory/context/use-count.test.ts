import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Encoder } from '../../model/encoder.ts';
import { toTurn } from '../../model/turns/turn.ts';
import { openMemory } from '../engine/open-memory.ts';
import { reinforce } from '../patterns/reinforce.ts';
import { assemble } from './assemble.ts';
import { openMemorySources } from './memory-sources.ts';

beforeAll(() => useBackend('wasm'));

const VECTOR = Float32Array.of(1, 0);
const encoder: Encoder = {
  ...{ name: 'constant', dimension: 2, identity: {}, dispose: () => {} },
  encode: async (texts) => Float32Array.from(texts.flatMap(() => [...VECTOR])),
};

test.each(['a', 'b'])('of two memories that are alike the one that was of use comes first: %s', async (used) => {
  const memory = await openMemory({ dimension: 2 });
  const record = { embedding: VECTOR, context: 'tea is in the blue box', createdAt: 0 };
  await memory.addBatch(['a', 'b'].map((id) => ({ ...record, id, metadata: { useCount: 0 } })));
  await reinforce(memory, [used]);
  const turns = [...memory.records()].map(toTurn);
  const options = { timeoutMs: 60_000, selection: { method: 'mmr' } } as const;
  const sources = await openMemorySources({ turns, encoder, vectorOf: () => VECTOR }, options);
  const { items } = await assemble('Where is the tea?', { rerank: 'none', timeoutMs: 60_000 }, sources, {
    now: 86_400_000,
  });
  expect(items.map(({ id }) => id)).toEqual([used, used === 'a' ? 'b' : 'a']);
  sources.dispose();
  await memory.close();
});
