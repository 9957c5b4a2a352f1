import { beforeAll, expect, test } from 'vitest';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../signals/corpus.fixture.ts';
import { retrieve } from '../retriever.ts';
import { parseSteps } from '../written-steps.ts';
import * as functions from './functions.ts';
import { STEPS } from './keys.ts';

const { blend, boost, curate, decay, filter, fuse, mix, pack, propagate, rerank, score, search, select, slice } =
  functions;

beforeAll(() => useBackend('wasm'));

test('there is a function for every step, which gives its name with its options', () => {
  expect(Object.keys(functions).sort()).toEqual([...STEPS.names].sort());
  const written = [
    [filter('channel = $query.channel'), { filter: 'channel = $query.channel' }],
    [slice({ policy: 'policy.yaml' }), { slice: { policy: 'policy.yaml' } }],
    [propagate('published'), { propagate: 'published' }],
    [search({ flat: { k: 13 } }), { search: { flat: { k: 13 } } }],
    [score({ strategy: { weights: 'uniform' } }), { score: { strategy: { weights: 'uniform' } } }],
    [fuse('rrf'), { fuse: 'rrf' }],
    [mix('weights.safetensors'), { mix: 'weights.safetensors' }],
    [boost([{ attribute: 'importance', factor: 2 }]), { boost: [{ attribute: 'importance', factor: 2 }] }],
    [curate({ tombstone: 0.5 }), { curate: { tombstone: 0.5 } }],
    [decay({ halfLifeHours: 6 }), { decay: { halfLifeHours: 6 } }],
    [blend({ rcp: 0.2 }), { blend: { rcp: 0.2 } }],
    [rerank({ mentions: { k: 11 } }), { rerank: { mentions: { k: 11 } } }],
    [select('mmr'), { select: 'mmr' }],
    [pack(200), { pack: 200 }],
  ];
  for (const [step, plain] of written) expect(step).toEqual(plain);
  expect(written.map(([step]) => Object.keys(step as object)[0]).sort()).toEqual(Object.keys(functions).sort());
});

test('a list of steps is an arm of `retrieve`', async () => {
  const workspace = createSampleWorkspace(drawSampleWorld(7));
  const steps = [
    search({ bm25: { k: 19 }, hnsw: { k: 13 } }),
    fuse({ convex: { hnsw: 0.3, bm25: 'rest' } }),
    decay(31),
    blend({ trajectory: 0.3 }),
    select({ mmr: { k: 11 } }),
  ];
  const [listed, parsed] = [await retrieve(workspace, steps), await retrieve(workspace, parseSteps(steps))];
  await retrieve(workspace, [search({ bm25: {} }), decay(31), { ...decay(3), as: 'recent' }]);
  const twice = retrieve(workspace, [search({ bm25: {} }), decay(31), decay(3)]);
  await expect(twice).rejects.toThrow(ConfigurationError);
  await expect(twice).rejects.toThrow(/\[2\]: expected one decay, which is at \[1\]; write as: NAME/);
  workspace.dispose();
  expect(listed.scores).toEqual(parsed.scores);
  expect([...listed.components.keys()]).toEqual([
    'hnsw',
    'bm25',
    'relevance',
    'decay',
    'trajectory',
    'before selection',
  ]);
});
