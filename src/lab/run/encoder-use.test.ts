import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingService } from '../../core/service/embedding-service.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import type { Launcher } from '../launch/launcher.ts';
import { FolderExecution } from './execution.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import type { Opening } from './partial-folder.ts';
import { runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-encoder-use-'));
const results = join(root, 'results');
let service: EmbeddingService;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
  service = await EmbeddingService.start();
});
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true });
});

async function run(opening: Opening, launch: Launcher['launch']) {
  const embedding = {
    ...{ encoder: 'openai-compatible', baseUrl: service.baseUrl, model: 'small', dimension: 5 },
    ...{ batchSize: 1000, pricePerMillionTokens: 2 },
  };
  const arms = { hybrid: [{ search: { flat: { k: 19 } } }] };
  const config = resolveConfig({ ...buildSampleConfig(root), embedding, arms }, 'sample');
  const launcher = { name: 'sample', countArmsAtOnce: () => 1, launch };
  const execution = new FolderExecution({ results, opening, launcher, signal: new AbortController().signal });
  const context = { backend: 'wasm', cacheFolder: join(root, 'cache'), command: 'ragpp run' } as const;
  try {
    const finished = await runExperiment(config, context, (prepared) => execution.execute(prepared));
    execution.finish(runFiles(finished));
    return finished.result;
  } finally {
    execution.release();
  }
}

const readStored = () => {
  const [folder] = readdirSync(results) as [string];
  return JSON.parse(readFileSync(join(results, folder, 'environment.json'), 'utf8')) as { encoderUse?: object[] };
};

test('the calls of a service are stored with the run, also if another process resumes it', async () => {
  const launch: Launcher['launch'] = async ({ arms, runHere }) => {
    for (const arm of arms) await runHere(arm);
  };
  const stopped = run('fresh', async () => {
    throw new Error('stopped');
  });
  await expect(stopped).rejects.toThrow('stopped');
  const inputs = service.received.map(({ body: { input } }) => input);
  const [use] = readStored().encoderUse as [{ tokens: number; cost: number }];
  expect(use).toMatchObject({ model: 'small', requests: inputs.length, texts: inputs.flat().length, retries: 0 });
  expect(use.cost).toBeCloseTo((2 * use.tokens) / 1e6, 12);
  expect(use.tokens).toBeGreaterThan(inputs.flat().length);

  const resumed = await run('resume', launch);
  expect(resumed.environment.encoderUse).toEqual([use]);
  expect(readStored().encoderUse).toEqual([use]);
  await run('resume', launch);
  expect(readStored().encoderUse).toEqual([use]);

  const again = await run('fresh', launch);
  expect(service.received).toHaveLength(inputs.length); // all vectors are in the cache
  expect(readStored().encoderUse).toBeUndefined();
  expect(again.hash).toBe(resumed.hash);
  expect(again.arms).toEqual(resumed.arms);
});
