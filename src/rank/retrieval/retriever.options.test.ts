import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { parseArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';
import type { RankOptions } from './written-steps.ts';

let workspace: Workspace;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
});
afterAll(() => workspace.dispose());
const world = drawSampleWorld(3, 61, 7, 3);
const least = { steps: ['search'], search: { newest: { k: 13 } } };

const retrieveUnchecked = (options: unknown) => retrieve(workspace, options as RankOptions);

describe('options that no compiler has checked', () => {
  test.each([
    [
      'an unknown key',
      { ...least, decai: {} },
      /decai: expected one of .*, got unknown key "decai"; did you mean decay/,
    ],
    ['an unknown step', { ...least, steps: ['search', 'decai'] }, /steps: expected steps that there are; for decai/],
    [
      'an unknown index',
      { ...least, search: { ivf: {} } },
      /search\.ivf\.index: expected .*, got nothing|search\.ivf.*"ivf"/,
    ],
    [
      'a column without its source',
      { ...least, steps: ['search', 'fuse'], fuse: { only: 'bm25' } },
      /fuse\.only: expected a column of the arm \(newest\)/,
    ],
    [
      'a value out of range',
      { ...least, steps: ['search', 'blend'], blend: { trajectory: { weight: 2 } } },
      /blend\.trajectory\.weight: expected number <= 1, got 2/,
    ],
    ['a half-life out of range', { ...least, steps: ['search', 'decay'], decay: -1 }, /decay: expected number > 0/],
  ])('%s are refused', async (_, options, fault) => {
    const running = retrieveUnchecked(options);
    await expect(running).rejects.toThrow(ConfigurationError);
    await expect(running).rejects.toThrow(fault);
  });

  test.each([
    [undefined, /expected object, got nothing/],
    [null, /expected object, got null/],
    ['search', /expected object, got "search"/],
    [{}, /steps: expected array, got nothing/],
  ])('%j is refused, which is no arm', async (options, fault) => {
    const running = retrieveUnchecked(options);
    await expect(running).rejects.toThrow(ConfigurationError);
    await expect(running).rejects.toThrow(fault);
  });

  test('get their defaults, and may be those of an arm', async () => {
    const expected = await retrieveUnchecked(parseArm({ search: least.search }));
    const arm = { name: 'x', description: '', extends: 'y', tune: {}, levels: null, differences: [], repeats: null };
    for (const options of [least, { ...least, ...arm, embedding: null, seed: null }])
      expect((await retrieveUnchecked(options)).scores).toEqual(expected.scores);
  });
});

test.each(['newest', 'bm25', 'flat', 'hnsw'])(
  'a k beyond the turns that exist finds all of them: %s',
  async (index) => {
    const listPoolPositions = async (k: number) => {
      const { pool } = await retrieve(workspace, parseArm({ search: { [index]: { k } } }));
      return [...pool.positions].filter((position) => position >= 0);
    };
    expect(await listPoolPositions(1_000_000_000)).toEqual(await listPoolPositions(world.turns.length));
  },
);
