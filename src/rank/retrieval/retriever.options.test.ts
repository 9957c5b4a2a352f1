import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { retrieve } from './retriever.ts';
import { type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

let workspace: Workspace;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
});
afterAll(() => workspace.dispose());
const world = drawSampleWorld(3, 61, 7, 3);
const least = { candidates: [{ index: 'newest', k: 13 }], relevance: { signals: ['recency'] } };

const retrieveUnchecked = (options: unknown) => retrieve(workspace, options as RetrieverOptions);

describe('options that no compiler has checked', () => {
  test.each([
    ['nothing', undefined, /expected object, got nothing/],
    ['no options', {}, /candidates: expected array, got nothing/],
    [
      'an unknown key',
      { ...least, decai: {} },
      /decai: expected one of .*, got unknown key "decai"; did you mean decay/,
    ],
    [
      'an unknown index',
      { ...least, candidates: [{ index: 'ivf' }] },
      /candidates\[0\]\.index: expected .*, got "ivf"/,
    ],
    ['a signal without its source', { ...least, relevance: { signals: ['bm25'] } }, /a source with index bm25/],
    [
      'a value out of range',
      { ...least, trajectory: { weight: 2 } },
      /trajectory\.weight: expected number <= 1, got 2/,
    ],
  ])('%s are refused', async (_, options, fault) => {
    const running = retrieveUnchecked(options);
    await expect(running).rejects.toThrow(ConfigurationError);
    await expect(running).rejects.toThrow(fault);
  });

  test('get their defaults, and may be those of an arm', async () => {
    const expected = await retrieveUnchecked(retrieverOptions.parse(least));
    const arm = { name: 'x', description: '', extends: 'y', tune: {}, levels: null, differences: [] };
    for (const options of [least, { ...least, ...arm }])
      expect((await retrieveUnchecked(options)).scores).toEqual(expected.scores);
  });
});

test.each(['newest', 'bm25', 'flat', 'hnsw'])(
  'a k beyond the turns that exist finds all of them: %s',
  async (index) => {
    const relevance = { signals: ['recency'] };
    const listPoolPositions = async (k: number) => {
      const { pool } = await retrieveUnchecked({ candidates: [{ index, k }], relevance });
      return [...pool.positions].filter((position) => position >= 0);
    };
    expect(await listPoolPositions(1_000_000_000)).toEqual(await listPoolPositions(world.turns.length));
  },
);
