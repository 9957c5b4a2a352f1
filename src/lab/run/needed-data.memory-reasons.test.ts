import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawShop } from '../../data/synthetic/draw-shop.ts';
import { STRATEGY_WEIGHTS } from '../../rank/query/strategy.ts';
import {
  explainMemoryScore,
  MEMORY_SIGNALS,
  type MemorySignals,
  scoreMemorySignals,
} from '../../rank/signals/memory-signals.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { askArm } from './ask.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { runExperiment } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-reasons-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => writeSampleJsonl(folder));

const own = { semantic_similarity: 0.2, entity_overlap: 0, temporal_relevance: 0, importance: 0, reinforcement: 0.8 };
const search = { newest: { k: 17 } };
const configure = () =>
  resolveConfig(
    {
      ...(buildSampleConfig(folder) as Plain),
      arms: {
        plain: [{ search }],
        memories: {
          steps: [{ search }, { score: { strategy: { weights: 'uniform' } } }, { fuse: { only: 'strategy' } }],
          // The only value: the arm has it, although it is not written.
          tune: { 'score.strategy.weights': [own] },
        },
      },
      evaluation: { split: 'test', baseline: 'plain', metrics: ['mrr@10'], samples: 100 },
    },
    'sample',
  );

const memoryTypes = new Map(
  drawShop({ customers: 12 }).turns.map(({ id, attributes }) => [id, attributes?.memoryType]),
);

test('a run says why each turn has its score, by the tuned weights, with the sentence of `askArm`', async () => {
  const backend = await useBackend('cpu');
  const { result } = await runExperiment(configure(), { backend, cacheFolder: null, command: 'test' });
  const [plain, memories] = result.arms;
  expect(plain?.rankings.flat().filter(({ reason }) => reason !== undefined)).toEqual([]);
  const at = MEMORY_SIGNALS.map((name) => memories?.componentNames.indexOf(name) as number);
  const turns = memories?.rankings.flat() ?? [];
  expect(turns.length).toBeGreaterThan(50);
  for (const { components, reason } of turns) {
    const signals = Object.fromEntries(MEMORY_SIGNALS.map((name, i) => [name, components[at[i]!]])) as MemorySignals;
    expect(reason).toBe(explainMemoryScore(signals, own, null).sentence);
  }
  expect(new Set(turns.map(({ reason }) => reason)).size).toBeGreaterThan(3);

  const { text, timestamp } = result.queries[3]!;
  const asked = await askArm(configure(), 'memories', { text, asOf: timestamp }, { cacheFolder: null });
  for (const { reason } of asked.ranking) {
    const { losses, sentence } = reason!;
    expect(losses.importance + losses.temporal_relevance).toBe(0);
    expect(sentence).toMatch(/^Recalled because (it was of use before|its text is close to the question) \(/);
  }
  expect(asked.ranking.length).toBeGreaterThan(5);
});

test('under exchanged strategies a run explains each score by the weights that it was made of', async () => {
  const backend = await useBackend('cpu');
  const config = resolveConfig(
    {
      ...(buildSampleConfig(folder) as Plain),
      dataset: { name: 'shop', customers: 12, questions: 36 },
      arms: {
        'by question': [{ search }, { score: { strategy: {} } }, { fuse: { only: 'strategy' } }],
        exchanged: { from: 'by question', control: { kind: 'shuffled-strategies', seed: 5 } },
      },
      evaluation: { split: 'all', baseline: 'by question', metrics: ['mrr@10'], samples: 100 },
    },
    'shop',
  );
  const { result } = await runExperiment(config, { backend, cacheFolder: null, command: 'test' });
  let explained = 0;
  for (const { rankings, componentNames } of result.arms)
    for (const { id, components, reason } of rankings.flat()) {
      const read = (name: string) => components[componentNames.indexOf(name)] as number;
      const signals = Object.fromEntries(MEMORY_SIGNALS.map((name) => [name, read(name)])) as unknown as MemorySignals;
      const type = (memoryTypes.get(id) ?? null) as string | null;
      // One strategy has the weights that give the score.
      const [weights, ...others] = Object.values(STRATEGY_WEIGHTS).filter(
        (tried) => Math.abs(Math.max(0, scoreMemorySignals(signals, tried, type)) - read('strategy')) < 1e-5,
      );
      if (weights === undefined || others.length > 0) continue;
      expect(reason).toBe(explainMemoryScore(signals, weights, type).sentence);
      explained++;
    }
  expect(explained).toBeGreaterThan(400);
});
