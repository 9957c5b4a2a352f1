import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import { type Execute, executeHere } from './execution.ts';
import { writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-race-'));
afterAll(() => rmSync(root, { recursive: true }));
let backend: BackendName;
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(root);
});

/** Words find nearly everything; the newest turn alone is rarely what is looked for. */
const arms = {
  words: [{ search: { bm25: {} } }],
  placed: { from: 'words', then: [{ blend: { trajectory: 0.02 } }] },
  'placed at random': { from: 'placed', control: { kind: 'random-parents' } },
  one: {
    description: 'The newest turn.',
    steps: [{ search: { newest: { k: 1 } } }, { blend: { trajectory: {} }, unchanged: 'one candidate' }],
  },
  'one at random': { from: 'one', control: { kind: 'random-parents' } },
};
const run = (evaluation: object, executeRound?: Execute): Promise<FinishedRun> => {
  const config = {
    name: 'race',
    seed: 7,
    backend: 'wasm',
    dataset: { name: 'jsonl', path: root },
    embedding: { encoder: 'lsa', dimension: 5 },
    evaluation: { baseline: 'words', samples: 199, split: 'all', metrics: ['mrr@5', 'recall@5'], ...evaluation },
    arms,
  };
  const context = { backend, cacheFolder: join(root, 'cache'), command: 'ragpp run race.yaml' };
  return runExperiment(resolveConfig(config, 'race'), context, executeHere, executeRound);
};

describe('a race', () => {
  const rounds: { readonly hash: string; readonly arms: string[]; readonly queries: number }[] = [];
  const recordRound: Execute = (round) => {
    const names = round.arms.map(({ name }) => name);
    rounds.push({ hash: round.hash, arms: names, queries: round.runner.queries.length });
    return executeHere(round);
  };
  let raced: FinishedRun;
  let whole: FinishedRun;
  let half: FinishedRun;
  beforeAll(async () => {
    raced = await run({ race: { confidence: 0.9, rounds: 3 } }, recordRound);
    whole = await run({});
    half = await run({ share: 0.5 });
  });

  test('runs the rounds with enough conversations, and each as an experiment of its own', () => {
    // Of 23 conversations a quarter is too few, and half of them are 12.
    expect(rounds).toEqual([{ hash: expect.any(String), arms: ['words', 'placed', 'one'], queries: 24 }]);
    expect(new Set([raced.result.hash, whole.result.hash, rounds[0]?.hash]).size).toBe(3);
  });

  test('stops the hopeless arm, with what it and the best one had by then', () => {
    const readArmMean = (arm: string) =>
      half.result.arms.find(({ name }) => name === arm)?.metrics['mrr@5']?.mean as number;
    const [first, second, mean] = ['words', 'placed', 'one'].map(readArmMean) as [number, number, number];
    expect(mean).toBeLessThan(0.6 * first);
    expect(raced.result.stopped).toEqual([
      {
        name: 'one',
        description: 'The newest turn.',
        queries: half.result.queries.length,
        metric: 'mrr@5',
        mean: expect.closeTo(mean, 12),
        difference: expect.objectContaining({ mean: expect.closeTo(mean - Math.max(first, second), 12) }),
        p: expect.any(Number),
      },
    ]);
    expect(raced.result.stopped[0]?.p).toBeLessThan(0.1);
  });

  test('leaves the others as they are without it, with their null controls', () => {
    expect(raced.result.arms.map(({ name }) => name)).toEqual(['words', 'placed', 'placed at random']);
    expect([...raced.runs.keys()]).toEqual(['words', 'placed', 'placed at random']);
    for (const [arm, ranked] of raced.runs) expect(ranked).toEqual(whole.runs.get(arm));
    expect(raced.result.arms[1]?.perQuery).toEqual(whole.result.arms[1]?.perQuery);
  });

  test('never stops the baseline', async () => {
    const { result } = await run({ baseline: 'one', race: { confidence: 0.9, rounds: 2 } });
    expect(result.arms.map(({ name }) => name)).toContain('one');
    expect(result.stopped).toEqual([]);
  });
});
