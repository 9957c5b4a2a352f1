import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { captureEnvironment, recordVersion, runHash } from '../run/environment.ts';
import { buildSampleConfig, writeSampleJsonl } from '../run/jsonl.fixture.ts';
import { formatState, type RunState } from '../run/partial-folder.ts';

/** An arm that is tuned at two points, and one that fails, as the numbers of its BM25 overflow. */
const ARMS = {
  newest: { steps: [{ search: { newest: { k: 19 } } }], tune: { 'newest.k': [7, 19] } },
  overflowing: [{ search: { bm25: { k: 17, variant: 'bm25l', k1: 1.7e308 } } }],
};

/** Writes data into a folder, and beside them what a process leaves that has begun a run of them on wasm. */
export async function beginSampleRun(folder: string): Promise<RunState> {
  writeSampleJsonl(folder);
  const evaluation = { baseline: 'newest', metrics: ['mrr@10'], depth: 11 };
  const config = resolveConfig({ ...buildSampleConfig(folder), evaluation, arms: ARMS } as Plain, 'sample');
  const { hash: dataHash } = await loadDataset(config.dataset, { cacheFolder: null });
  const backend = 'wasm';
  const arms = config.arms.map(({ name }) => name);
  const state = {
    hash: runHash(config, dataHash, backend),
    recordVersion: recordVersion(),
    dataHash,
    backend,
    arms,
    armsAtOnce: 5,
  } as const;
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  await useBackend(backend);
  const environment = captureEnvironment(backend, config.seed, 'ragpp run', config.dataset);
  writeFileSync(join(folder, 'environment.json'), JSON.stringify(environment));
  writeFileSync(join(folder, 'state.json'), formatState({ ...state, arms }));
  return { ...state, arms };
}
