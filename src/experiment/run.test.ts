import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendName, useBackend } from '../core/backend.ts';
import { ValidationError } from '../core/errors.ts';
import type { StartProgress } from '../core/progress.ts';
import { resolveConfig } from './config.ts';
import { applyOverrides, type Plain } from './config-file.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { sampleConfig, writeSampleJsonl } from './sample-jsonl.ts';

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
  const raw = applyOverrides(sampleConfig(folder) as Plain, overrides);
  const context = { backend, cacheFolder: cache, command: 'ragpp run sample.yaml' };
  return runExperiment(resolveConfig(raw, 'sample'), progress === undefined ? context : { ...context, progress });
}

/** What must be the same again: everything but the machine and the time. */
function lasting({ result: { environment: _, timings: __, ...result }, runs, qrels }: FinishedRun): object {
  return { result, runs: [...runs], qrels: [...qrels] };
}

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
    expect([0.2, 0.6]).toContain(tuned.hybrid?.['relevance.fusion.alpha']);
    expect([12, 96]).toContain(tuned['Decayed × 2']?.['decay.halfLifeHours']);
    expect(tuned.unified).toEqual(tuned['Decayed × 2']);
    expect(tuned.propagated).toEqual(tuned.hybrid);
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
    expect(unified?.componentNames).toEqual(['cosine', 'bm25', 'relevance', 'decay', 'trajectory', 'attention']);
  });

  test('says how good the approximate index was, and how long each stage took', () => {
    expect(finished.result.remarks[0]).toMatch(
      /^hnsw against the exact index: recall@10 [01]\.\d{4}, recall@17 [01]\.\d{4}/,
    );
    expect(finished.result.timings.map(({ stage }) => stage)).toEqual([
      'dataset',
      'tuning',
      'embedding',
      'arms',
      'statistics',
      'remarks',
    ]);
  });

  test('is the same again, and embeds nothing the second time', async () => {
    const files = () => readdirSync(join(cacheFolder, 'embeddings'));
    const written = files().map((name) => statSync(join(cacheFolder, 'embeddings', name)).mtimeMs);
    const remarks: string[] = [];
    const again = await run([], cacheFolder, (stage) => ({
      update() {},
      finish: (remark) => void remarks.push(`${stage}: ${remark}`),
    }));
    expect(lasting(again)).toEqual(lasting(finished));
    expect(remarks.filter((remark) => remark.includes('from the cache'))).toHaveLength(2);
    expect(remarks.filter((remark) => /embedded|singular/.test(remark))).toEqual([]);
    expect(files().map((name) => statSync(join(cacheFolder, 'embeddings', name)).mtimeMs)).toEqual(written);
  });

  test('is the same with an empty cache', async () => {
    expect(lasting(await run([], join(folder, 'other-cache')))).toEqual(lasting(finished));
  });

  test.each([
    ['the seed', 'seed=4'],
    ['an arm', 'arms.unified.attention.weight=0.5'],
    ['the encoder', 'embedding.dimension=11'],
  ])('has another hash with a change of %s', async (_, override) => {
    expect((await run([override])).result.hash).not.toBe(finished.result.hash);
  });
});

test('all queries are evaluated in time order where both splits are asked for', async () => {
  const { result } = await run(['evaluation.split=all', 'evaluation.limitQueries=7', 'evaluation.metrics=[mrr@10]']);
  expect(result.queries.length).toBe(14);
  const times = result.queries.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

describe('tensors', () => {
  test.each([
    ['is over', [], null],
    ['has failed', ['tuning.metric=p@3', 'evaluation.split=dev', 'evaluation.limitQueries=2'], ValidationError],
  ])('are gone when a run %s', async (_, overrides, error) => {
    const before = tf.memory().numTensors;
    if (error === null) await run(overrides);
    else await expect(run(overrides)).rejects.toThrow(error);
    expect(tf.memory().numTensors).toBe(before);
  });
});
