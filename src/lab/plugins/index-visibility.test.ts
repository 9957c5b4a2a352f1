import { expect, test } from 'vitest';
import { PluginError } from '../../core/errors/errors.ts';
import { NewestFirstIndex } from '../../index/candidates/top-selection.ts';
import { describeVisibility } from '../../index/candidates/visibility-contract.harness.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { adaptIndex } from './members.ts';
import type { PluginIndex } from './plugin.ts';

/** The index of a plugin as arms use it, over turns with the ids. */
async function openPluginIndex(ids: readonly string[], create: PluginIndex['create']) {
  const plugin = { name: 'shy', version: '3', hash: 'h' };
  const load = await adaptIndex({ name: 'shy-index', description: 'd', create }, plugin).load();
  const turn = { conversationId: 'c', parentId: null, author: null, channel: null, text: 'word' };
  const corpus = new Corpus(ids.map((id, timestamp) => ({ ...turn, id, timestamp })));
  return load({}, { corpus, vectors: new Float32Array(0), dimension: 0, seed: 1 });
}

/** Honours the list. */
const createNewest: PluginIndex['create'] = (_, { corpus }) => new NewestFirstIndex(corpus.size);
/** Looks at the cutoffs alone. */
const createBlind: PluginIndex['create'] = (_, { corpus }) => {
  const index = new NewestFirstIndex(corpus.size);
  return { search: ({ texts, vectors, cutoffs }, k) => index.search({ texts, vectors, cutoffs }, k) };
};

describeVisibility('newest', ({ ids }) => openPluginIndex(ids, createNewest));

test('an index of a plugin that ignores the list is caught by the name of the plugin', async () => {
  const index = await openPluginIndex(['a', 'b', 'c'], createBlind);
  const batch: QueryBatch = { texts: [''], vectors: new Float32Array(0), cutoffs: Int32Array.of(3) };
  expect([...(await index.search(batch, 2)).positions]).toEqual([2, 1]);
  expect([...(await index.search({ ...batch, visible: [Int32Array.of(1, 2)] }, 2)).positions]).toEqual([2, 1]);
  const hidden = index.search({ ...batch, visible: [Int32Array.of(0, 2)] }, 2);
  await expect(hidden).rejects.toThrow(PluginError);
  await expect(hidden).rejects.toThrow(
    /shy 3: index shy-index threw: candidate of query 0 is hidden from the query: position 1; let the index return turns of the list in `visible` only/,
  );
});
