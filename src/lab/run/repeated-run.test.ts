import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { listAlikeArms, readSeedDeviation } from '../measure/warning.ts';
import { rescore } from '../stored/rescore.ts';
import { openRun } from '../stored/stored-run.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { runFiles, writeRunFolder } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-repeated-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Such a coarse one that the seed matters. */
const EMBEDDING = { encoder: 'lsa', dimension: 3, powerIterations: 0, oversampling: 0 };

const EVALUATION = { samples: 499, depth: 37, metrics: ['mrr@10', 'ndcg@10'] };

const sample = () => buildSampleConfig(folder) as Plain & { arms: Plain };
const buildFirstArms = (): Plain => {
  const { newest, hybrid } = sample().arms;
  return { newest, hybrid };
};
const resolveSeeds = (seeds: number, rest: Plain = {}) =>
  resolveConfig({ ...sample(), embedding: EMBEDDING, arms: buildFirstArms(), seeds, ...rest }, 'sample');

describe('arms with several seeds', () => {
  test('are written out, and resolve to themselves', () => {
    const config = resolveSeeds(3);
    expect(config.arms.map(({ name, seed, repeats }) => [name, seed, repeats])).toEqual([
      ['newest', null, null],
      ['hybrid', null, null],
      ['newest | seed: 4', 4, 'newest'],
      ['newest | seed: 5', 5, 'newest'],
      ['hybrid | seed: 4', 4, 'hybrid'],
      ['hybrid | seed: 5', 5, 'hybrid'],
    ]);
    expect(config.arms[4]).toMatchObject({ extends: 'hybrid', tune: {} });
    expect(resolveConfig({ ...structuredClone(config), seeds: 3 } as unknown as Plain, 'again')).toEqual(config);
  });

  test('repeat null controls too, which stay controls of the first seed of their arm', () => {
    const arms = { ...buildFirstArms(), ringed: { from: 'hybrid', then: [{ blend: { rcp: {} } }] } };
    const config = resolveConfig({ ...sample(), arms, controls: ['permuted-order'], seeds: 2 } as Plain, 'sample');
    const repeated = config.arms.find(({ repeats }) => repeats?.includes('control'));
    expect(repeated).toMatchObject({ extends: 'ringed', control: { kind: 'permuted-order' }, seed: 4 });
  });
});

describe('a run with several seeds', () => {
  const hybrid = { steps: [{ search: { hnsw: { k: 17 } } }] };
  const newest = { steps: [{ search: { newest: { k: 19 } } }] };
  let backend: BackendName;
  let finished: FinishedRun;
  const command = 'ragpp run sample.yaml';
  beforeAll(async () => {
    backend = await useBackend('wasm');
    writeSampleJsonl(folder);
    finished = await runExperiment(resolveSeeds(3, { arms: { newest, hybrid } }), {
      backend,
      cacheFolder: join(folder, 'cache'),
      command,
    });
  });

  test('has a row an arm, whose figures are the means of its seeds', async () => {
    const { arms, metrics } = finished.result;
    expect(arms.map(({ name, seeds }) => [name, seeds?.count])).toEqual([
      ['newest', 3],
      ['hybrid', 3],
    ]);
    expect(arms[0]?.seeds?.deviations).toEqual(Object.fromEntries(metrics.map((metric) => [metric, 0])));
    const alone = await Promise.all(
      [4, 5].map((seed) =>
        runExperiment(
          resolveSeeds(1, {
            arms: { newest: { ...newest, seed }, hybrid: { ...hybrid, seed } },
          }),
          {
            backend,
            cacheFolder: join(folder, 'cache'),
            command,
          },
        ),
      ),
    );
    const first = await runExperiment(resolveSeeds(1, { arms: { newest, hybrid } }), {
      backend,
      cacheFolder: join(folder, 'cache'),
      command,
    });
    const runs = [first, ...alone];
    const means = runs.map(({ result }) => result.arms[1]!.metrics['ndcg@10']!.mean);
    expect(new Set(means).size).toBeGreaterThan(1);
    expect(arms[1]?.metrics['ndcg@10']?.mean).toBeCloseTo((means[0]! + means[1]! + means[2]!) / 3, 12);
    expect(finished.runs.get('hybrid | seed: 5')).toEqual(alone[1]!.runs.get('hybrid'));
  });

  test('runs an arm once that no seed changes, and its rankings are those of every seed', () => {
    const { records, runs, result } = finished;
    expect(records.map(({ name }) => name)).toEqual(['newest', 'hybrid', 'hybrid | seed: 4', 'hybrid | seed: 5']);
    expect(runs.get('newest | seed: 5')).toBe(runs.get('newest'));
    expect(listAlikeArms(result.arms)).toEqual(['newest']);
    expect(readSeedDeviation(result.arms[0]!, 'mrr@10')).toBeUndefined();
    expect(readSeedDeviation(result.arms[1]!, 'mrr@10')).toBe(result.arms[1]?.seeds?.deviations['mrr@10']);
  });

  test('pairs the repetitions of arms whose seeds differ by their number', async () => {
    const arms = { hybrid, other: { ...hybrid, seed: 11 } };
    const { result } = await runExperiment(
      resolveSeeds(3, { arms, evaluation: { ...EVALUATION, baseline: 'hybrid' } }),
      {
        backend,
        cacheFolder: join(folder, 'cache'),
        command,
      },
    );
    const [base, other] = result.arms.map((arm) => arm.metrics['ndcg@10']?.mean as number);
    const difference = result.arms[1]?.comparisons?.['ndcg@10']?.difference;
    expect(result.arms.map(({ seeds }) => seeds?.count)).toEqual([3, 3]);
    expect(difference?.mean).toBeCloseTo(other! - base!, 12);
  });

  test('has wider intervals than its first seed, in both directions from the mean', () => {
    const { low, high, mean } = finished.result.arms[1]!.metrics['ndcg@10']!;
    expect(low).toBeLessThan(mean);
    expect(mean - low!).toBeCloseTo(high! - mean, 12);
  });

  test('shows itself and its result in a notebook as the same table', async () => {
    const shown = await readDisplay(finished.result);
    expect(shown['text/html']).toContain('<table>');
    expect(shown).toEqual(await readDisplay(finished));
  });

  test('is rescored to the same figures from its files', () => {
    const target = join(folder, 'run');
    const files = runFiles(finished);
    expect(JSON.parse(files['metrics.json'] as string)).toMatchObject({
      intervals: 't',
      arms: [{ seeds: { count: 3 } }, {}],
    });
    expect(Object.keys(files).filter((name) => name.startsWith('runs/'))).toHaveLength(6);
    writeRunFolder(target, files);
    const { metrics, statistics } = finished.result;
    const again = rescore(openRun(target), {
      metrics,
      baseline: null,
      relevantGrade: null,
      granularity: 'turn',
      judgedOnly: false,
      unanswerableAre: 'apart',
      test: statistics.test,
      correction: statistics.correction,
    });
    for (const [a, arm] of again.arms.entries()) {
      expect(arm.metrics).toEqual(finished.result.arms[a]?.metrics);
      expect(arm.comparisons).toEqual(finished.result.arms[a]?.comparisons);
      expect(arm.seeds).toEqual(finished.result.arms[a]?.seeds);
    }
  });
});
