import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { parseRun } from '../../eval/trec/trec-files.ts';
import type { Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import { fuseLists, fusionOptions } from '../../ops/fusion/registry.ts';
import { resolveConfig } from '../config/config.ts';
import { writeSampleJsonl } from './jsonl.fixture.ts';
import { runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-list-fusion-'));
afterAll(() => rmSync(folder, { recursive: true }));
let backend: BackendName;
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(folder);
});

const sources = { bm25: { k: 17 }, hnsw: { k: 13 }, newest: { k: 11 } };
const FUSIONS = {
  rrf: { method: 'rrf', k: 10 },
  'rrf, weighted': { method: 'rrf', weights: { hnsw: 2, newest: 0.25 } },
  combsum: { method: 'combsum' },
  combmnz: { method: 'combmnz' },
  'combmed, rank': { method: 'combmed', normalisation: 'rank' },
  'wsum, borda': { method: 'wsum', normalisation: 'borda', weights: { bm25: 0.5 } },
  'combsum, zmuv': { method: 'combsum', normalisation: 'zmuv' },
  logn_isr: { method: 'logn_isr', sigma: 0.1 },
  w_bordafuse: { method: 'w_bordafuse', weights: { newest: 0.25 } },
};
/** A fusion of all columns, with the weights of some; a column without one has the weight 1. */
const buildFusing = ({ method, weights, ...options }: { method: string; weights?: object }) => {
  const ones = Object.fromEntries(Object.keys(sources).map((name) => [name, 1]));
  return { [method]: { ...options, ...ones, ...weights } };
};

/** The files that a run of these arms leaves, as rankings. */
async function runSourceRankings() {
  const single = Object.entries(sources).map(([name, source]) => [name, [{ search: { [name]: source } }]]);
  const fused = Object.entries({ ...FUSIONS, pool: { method: 'pool-rrf', k: 10 } }).map(([name, fusion]) => [
    name,
    [{ search: sources }, { fuse: buildFusing(fusion) }],
  ]);
  const config = {
    name: 'list-fusion',
    seed: 3,
    dataset: { name: 'jsonl', path: folder },
    embedding: { encoder: 'lsa', dimension: 13 },
    evaluation: { baseline: 'bm25', samples: 199, metrics: ['mrr@10'], split: 'all' },
    arms: Object.fromEntries([...single, ...fused]),
  };
  const finished = await runExperiment(resolveConfig(config, 'test'), {
    backend,
    cacheFolder: join(folder, 'cache'),
    command: '',
  });
  const files = runFiles(finished);
  const runOf = (arm: string) => {
    const path = `runs/${arm.replace(', ', '-').replaceAll('_', '-')}.trec`;
    return parseRun(files[path] as string, path);
  };
  return { runOf, warnings: finished.result.warnings ?? [], metrics: files['metrics.json'] as string };
}

describe('fusion of lists in a config', () => {
  let runOf: (arm: string) => Run;
  let done: Awaited<ReturnType<typeof runSourceRankings>>;
  beforeAll(async () => {
    done = await runSourceRankings();
    runOf = done.runOf;
  });

  test('a list that cannot reach the measured ranks is a warning of its arm, and in the folder', () => {
    // 2 / (10 + r) > 1 / 11 for the 11 ranks before r = 12: the shorter of the other lists has at least 11 turns.
    const ranks = 'bm25 12 and 1, hnsw 12 and 1, newest 12 and 1';
    const warned = done.warnings.filter(({ system }) => system === 'rrf');
    expect(warned.map(({ code }) => code)).toEqual(['unreachable-list']);
    expect(warned[0]?.message).toContain(`share no turn: ${ranks}; the metrics read the top 10`);
    expect(done.metrics).toContain(ranks);
    expect(done.warnings.map(({ system }) => system)).not.toContain('bm25');
    expect(done.warnings.map(({ system }) => system)).not.toContain('pool');
  });

  test.each(Object.entries(FUSIONS))('%s ranks as fuseLists ranks the run files of its sources', (arm, fusion) => {
    const [bm25, hnsw, newest] = Object.keys(sources).map(runOf) as [Run, Run, Run];
    const options = fusionOptions.parse(fusion);
    let compared = 0;
    for (const [query, ranked] of runOf(arm)) {
      const lists = { bm25: bm25.get(query) ?? [], hnsw: hnsw.get(query) ?? [], newest: newest.get(query) ?? [] };
      const fused = fuseLists(lists, options);
      const lowest = Math.min(0, ...fused.map(({ score }) => score));
      // An arm's scores are float32, from 0.
      const expected = fused.map(({ id, score }) => ({ id, score: Math.fround(score - lowest) }));
      expect(ranked.map(({ id }) => id)).toEqual(expected.sort(compareScored).map(({ id }) => id));
      compared += ranked.length;
    }
    expect(compared).toBeGreaterThan(700);
  });

  test('of the pool, each signal ranks what other sources found as well', () => {
    const listRankedIds = (ranked: readonly Scored[] | undefined) => ranked?.map(({ id }) => id);
    const [pool, lists] = [runOf('pool'), runOf('rrf')];
    const changed = [...pool].filter(
      ([query, ranked]) => listRankedIds(ranked)?.join() !== listRankedIds(lists.get(query))?.join(),
    );
    expect(changed.length).toBeGreaterThan(pool.size / 2);
    for (const [query, ranked] of pool)
      expect(listRankedIds(ranked)?.sort()).toEqual(listRankedIds(lists.get(query))?.sort());
  });
});
