import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { applyOverrides, type Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { formatMetrics, runFiles } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-run-'));
afterAll(() => rmSync(folder, { recursive: true }));
const cacheFolder = join(folder, 'cache');
let backend: BackendName;
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(folder);
});

async function run(
  overrides: readonly string[] = [],
  cache = cacheFolder,
  progress?: StartProgress,
): Promise<FinishedRun> {
  const raw = applyOverrides(buildSampleConfig(folder) as Plain, overrides);
  const context = { backend, cacheFolder: cache, command: 'ragpp run sample.yaml' };
  return runExperiment(resolveConfig(raw, 'sample'), progress === undefined ? context : { ...context, progress });
}

/** What must be the same again: everything but the machine, the time, and what was found in the cache. */
function omitTimes({
  result: { environment: _, timings: __, stages: ___, ...result },
  runs,
  qrels,
}: FinishedRun): object {
  return { result, runs: [...runs], qrels: [...qrels] };
}

test.each([
  ['are left to processes that fit them', true, [], false],
  ['are made first where arms run in one process', false, [], true],
  ['are made first for a race', true, ['evaluation.race={confidence: 0.9, rounds: 2}'], true],
  ['are made first by an encoder that is not fitted', true, ['embedding={encoder: use-lite}'], true],
])('embeddings %s', async (what, inProcesses, overrides, expected) => {
  let handedOver = 0;
  const fitElsewhere = async () => void handedOver++;
  const raw = applyOverrides(buildSampleConfig(folder) as Plain, overrides);
  const cache = join(folder, what);
  const context = {
    backend,
    cacheFolder: cache,
    command: 'ragpp run sample.yaml',
    ...(inProcesses && { fitElsewhere }),
  };
  let found: boolean | null = null;
  const stop = () => {
    found ??= existsSync(join(cache, 'embeddings'));
    return Promise.reject(new Error('seen'));
  };
  await expect(runExperiment(resolveConfig(raw, 'sample'), context, stop, stop)).rejects.toThrow('seen');
  expect(found).toBe(expected);
  expect(handedOver).toBe(expected ? 0 : 1);
});

test('the figures are computed a step an arm or metric, which is shown', async () => {
  const stages: { stage: string; total: number; done: number[] }[] = [];
  await run([], cacheFolder, (stage, total) => {
    const done: number[] = [];
    stages.push({ stage, total, done });
    return { update: (steps) => void done.push(steps), finish() {} };
  });
  const [statistics, ...others] = stages.filter(({ stage }) => stage === 'statistics');
  const total = statistics?.total ?? 0;
  expect(others).toEqual([]);
  expect(total).toBeGreaterThan(10);
  expect(statistics?.done).toEqual(Array.from({ length: total }, (_, step) => step + 1));
});

describe('a run', () => {
  let finished: FinishedRun;
  beforeAll(async () => {
    finished = await run();
  });

  test('ranks for every arm, and only strictly earlier turns', () => {
    const { result, runs } = finished;
    expect([...runs.keys()]).toEqual(['newest', 'hybrid', 'Decayed × 2', 'unified', 'propagated']);
    const moments = new Map(result.queries.map(({ id, timestamp }) => [id, timestamp]));
    const times = new Map(result.dataset.turns.map(({ id, timestamp }) => [id, timestamp]));
    for (const [, ranking] of runs) {
      for (const [id, ranked] of ranking) {
        expect(ranked.length).toBeGreaterThan(0);
        expect(ranked.length).toBeLessThanOrEqual(37);
        for (const turn of ranked.slice(0, 10)) {
          if (moments.has(id)) expect(times.get(turn.id)).toBeLessThan(moments.get(id) as number);
        }
      }
    }
  });

  test('evaluates the test split, the query without an answer apart', () => {
    const { result, qrels } = finished;
    expect(result.queries).toHaveLength(13);
    expect(qrels.size).toBe(14);
    expect(result.queries.map(({ id }) => id)).not.toContain('q21-1');
    expect(result.remarks).toContain('1 queries without a relevant turn are left out: q21-1');
  });

  test('says what was tuned, what an arm took over included', () => {
    const tuned = Object.fromEntries(finished.result.arms.map((arm) => [arm.name, arm.tuned]));
    expect(Object.keys(tuned.newest as object)).toEqual([]);
    expect([0.2, 0.6]).toContain(tuned.hybrid?.['fuse.convex.hnsw']);
    expect([12, 96]).toContain(tuned['Decayed × 2']?.['decay.halfLifeHours']);
    expect(tuned.unified).toEqual(tuned['Decayed × 2']);
    expect(Object.keys(tuned.propagated as object)).toEqual([]);
  });

  test('shows the parts of the scores at the top of each ranking', () => {
    for (const { name, componentNames, rankings } of finished.result.arms) {
      expect(rankings).toHaveLength(13);
      for (const [q, ranking] of rankings.entries()) {
        const full = finished.runs.get(name)?.get(finished.result.queries[q]?.id as string);
        expect(ranking.map(({ id, score }) => ({ id, score }))).toEqual(full?.slice(0, 10));
        for (const { components } of ranking) expect(components).toHaveLength(componentNames.length);
      }
    }
    const unified = finished.result.arms.find(({ name }) => name === 'unified');
    expect(unified?.componentNames).toEqual(['hnsw', 'bm25', 'relevance', 'decay', 'trajectory', 'unified']);
  });

  test('says how good the approximate index was, and how long each stage took', () => {
    expect(finished.result.remarks[0]).toMatch(
      /^hnsw against the exact index: recall@10 [01]\.\d{4}, recall@17 [01]\.\d{4}/,
    );
    expect(finished.result.timings.map(({ stage }) => stage)).toEqual([
      'dataset',
      'embedding',
      'arms',
      'statistics',
      'remarks',
    ]);
  });

  test('is the same again, and embeds nothing the second time', async () => {
    const listEmbeddingFiles = () =>
      readdirSync(join(cacheFolder, 'embeddings'), { recursive: true, encoding: 'utf8' });
    const written = listEmbeddingFiles().map((name) => statSync(join(cacheFolder, 'embeddings', name)).mtimeMs);
    const remarks: string[] = [];
    const again = await run([], cacheFolder, (stage) => ({
      update() {},
      finish: (remark) => void remarks.push(`${stage}: ${remark}`),
    }));
    expect(omitTimes(again)).toEqual(omitTimes(finished));
    expect(remarks.filter((remark) => remark.includes('from the cache'))).toHaveLength(2);
    expect(remarks.filter((remark) => /embedded|singular/.test(remark))).toEqual([]);
    expect(listEmbeddingFiles().map((name) => statSync(join(cacheFolder, 'embeddings', name)).mtimeMs)).toEqual(
      written,
    );
  });

  test('is the same with an empty cache', async () => {
    expect(omitTimes(await run([], join(folder, 'other-cache')))).toEqual(omitTimes(finished));
  });

  test.each([
    ['the seed', 'seed=4'],
    ['an arm', 'arms.unified.set={blend.unified.weight: 0.5}'],
    ['the encoder', 'embedding.dimension=11'],
  ])('has another hash with a change of %s', async (_, override) => {
    expect((await run([override])).result.hash).not.toBe(finished.result.hash);
  });
});

test('all queries are evaluated in time order where both splits are asked for', async () => {
  const { result } = await run(['evaluation.split=all', 'evaluation.limitQueries=7', 'evaluation.metrics=[mrr@10]']);
  expect(result.queries.length).toBe(13); // one of the 14 has no answer
  const times = result.queries.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

/** An override that has an arm fail when it scores: the numbers of its BM25 overflow. */
const formatFailingOverride = (arm: string) => `arms.${arm}.set={bm25: {k: 17, variant: bm25l, k1: 1.7e308}}`;

describe('an arm that fails', () => {
  test('fails alone, and takes its own place among the failures', async () => {
    const { result, runs } = await run([formatFailingOverride('unified')]);
    expect(result.failures).toEqual([
      {
        name: 'unified',
        description: '',
        code: 'NOT_FINITE',
        message: expect.stringMatching(/^[^\n]*: (NaN|Infinity); [^\n]*$/),
      },
    ]);
    expect([...runs.keys()]).toEqual(['newest', 'hybrid', 'Decayed × 2', 'propagated']);
    expect(result.arms.map(({ name }) => name)).toEqual([...runs.keys()]);
    const whole = await run();
    const [before, after] = [whole, { result, runs }].map((one) => one.runs.get('propagated'));
    expect(after).toEqual(before);
  });

  test('fails alone where it is its approximate index that fails', async () => {
    const cache = join(folder, 'damaged-cache');
    const stage = join(cache, 'stages', 'candidates-hnsw');
    await run([], cache);
    const others = readdirSync(stage);
    const own = 'arms.newest=[search: {hnsw: {k: 17, m: 3}}]';
    const { result: sound } = await run([own], cache);
    const made = readdirSync(stage).filter((file) => !others.includes(file));
    expect(made).toHaveLength(1);
    truncateSync(join(stage, made[0] as string), 100);
    const { result } = await run([own], cache);
    expect(result.failures.map(({ name, code }) => [name, code])).toEqual([['newest', 'CHECKSUM_MISMATCH']]);
    const listRecalls = ({ remarks }: FinishedRun['result']) => remarks.filter((remark) => remark.startsWith('hnsw'));
    expect([listRecalls(sound).length, listRecalls(result).length]).toEqual([2, 1]);
  });

  test('takes those along that take its tuned values over', async () => {
    const { result } = await run([formatFailingOverride('hybrid'), 'evaluation.baseline=newest']);
    expect(result.failures.map(({ name }) => name)).toEqual(['hybrid', 'Decayed × 2', 'unified']);
    expect(result.arms.map(({ name }) => name)).toEqual(['newest', 'propagated']);
  });

  test('leaves nothing to compare with where it is the baseline, and the remarks say why', async () => {
    const { result } = await run([formatFailingOverride('unified'), 'evaluation.baseline=unified']);
    expect(result.arms).toHaveLength(4);
    expect(result.arms.map(({ comparisons }) => comparisons)).toEqual([null, null, null, null]);
    expect(result.remarks).toContain('nothing is compared, since the baseline failed: unified');
    for (const { strata } of result.arms)
      for (const level of Object.values(strata).flatMap((levels) => Object.values(levels)))
        for (const value of Object.values(level)) expect(value.difference).toBeNull();
  });

  test('ends the run where it is every arm', async () => {
    const only = ['only=[hybrid]', formatFailingOverride('hybrid')];
    await expect(run(only)).rejects.toThrow(/^every arm failed, the first, hybrid, with: .* is not finite/);
    await expect(run(only)).rejects.toMatchObject({ code: 'NOT_FINITE' });
  });
});

test.each([['unified'], ['propagated']])('%s ranks as in the whole run where it is run alone', async (arm) => {
  const [whole, alone] = [await run(), await run([`only=[${arm}]`], join(folder, `alone-${arm}`))];
  expect([...alone.runs.keys()].sort()).toEqual(['hybrid', arm].sort());
  expect(alone.runs.get(arm)).toEqual(whole.runs.get(arm));
  const findArmResult = ({ result }: FinishedRun) => result.arms.find(({ name }) => name === arm);
  expect(findArmResult(alone)?.tuned).toEqual(findArmResult(whole)?.tuned);
  expect(findArmResult(alone)?.rankings).toEqual(findArmResult(whole)?.rankings);
});

describe('tensors', () => {
  test.each([
    ['is over', [], null],
    ['has failed', ['dataset.relevantGrade=9'], ValidationError],
  ])('are gone when a run %s', async (_, overrides, error) => {
    const before = tf.memory().numTensors;
    if (error === null) await run(overrides);
    else await expect(run(overrides)).rejects.toThrow(error);
    expect(tf.memory().numTensors).toBe(before);
  });
});

test('timing the arms does not affect their results, and is in no file that is compared', async () => {
  const parseMetricsFile = ({ result }: FinishedRun) => JSON.parse(formatMetrics(result)) as Record<string, unknown>;
  const [plain, timed] = [await run(), await run(['evaluation.latency={queries: 3, warmUp: 1}'])];
  expect({ ...parseMetricsFile(timed), hash: '' }).toEqual({ ...parseMetricsFile(plain), hash: '' });
  expect(plain.result.arms.map(({ latency }) => latency)).toEqual([null, null, null, null, null]);
  for (const { latency } of timed.result.arms) expect(latency?.total?.p99).toBeGreaterThan(0);
  const environment = JSON.parse(runFiles(timed)['environment.json'] as string) as { latency: object };
  expect(Object.keys(environment.latency)).toEqual(timed.result.arms.map(({ name }) => name));
});

test('names the arm whose rankings are in the order of ids from some rank on', async () => {
  const newest = 'newest: { k: 17 }';
  const words = `words: [search: { bm25: { k: 1 }, ${newest} }, fuse: { only: bm25 }]`;
  const latest = `latest: [search: { ${newest} }]`;
  const { result } = await run([`arms={${words}, ${latest}}`, 'evaluation.baseline=words']);
  const warnings = result.warnings?.filter(({ code }) => code === 'tied-end');
  expect(warnings).toEqual([{ code: 'tied-end', system: 'words', message: expect.stringMatching(/ in \d+ of 13 \(/) }]);
});
