import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SensitiveTextError, ValidationError } from '../../core/errors/errors.ts';
import { SampleBlobStore } from '../../core/files/blob-store.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { decodeDataset } from '../../data/prepared/dataset-bytes.ts';
import type { Plain } from '../composition/config-file.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { type ArmRunner, openArmRunner } from './arm-runner.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { DATA_NAME, offerData } from './offered-data.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-offered-'));
afterAll(() => rmSync(root, { recursive: true }));
const opened: ArmRunner[] = [];
afterAll(() => Promise.all(opened.map((runner) => runner.dispose())));
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
  writeFileSync(join(root, 'ranked.trec'), 'q0-0 Q0 t0-0 1 1 x\n');
});

async function openRunner(arms: object, change: (config: ExperimentConfig) => ExperimentConfig = (same) => same) {
  const raw = { ...(buildSampleConfig(root) as Plain), arms: { hybrid: [{ search: { bm25: {} } }], ...arms } };
  const config = change(resolveConfig(raw as Plain, 'sample'));
  const runner = await openArmRunner(config, { cacheFolder: join(root, 'cache') });
  opened.push(runner);
  return runner;
}

test('other machines get the data, the vectors and the stages that the cache has', async () => {
  const runner = await openRunner({ cosine: [{ search: { flat: { k: 7 } } }] });
  const blobs = new SampleBlobStore();
  await runner.prepare(runner.source.config.arms);
  await runner.run('cosine');
  const files = await offerData(runner, ['hybrid', 'cosine'], blobs);
  const dataset = decodeDataset((await blobs.get(files[DATA_NAME] as string)) as Uint8Array);
  expect(dataset.hash).toBe(runner.dataset.hash);
  const names = [...blobs.blobs.keys()].map((name) =>
    name
      .split('/')
      .slice(0, name.startsWith('stages') ? 2 : 1)
      .join('/'),
  );
  expect(new Set(names)).toEqual(
    new Set(['datasets', 'vectors', 'stages/candidates-flat', 'stages/pool', 'stages/cosine']),
  );
});

test('data for which there is no room is an error', async () => {
  const offering = offerData(await openRunner({}), ['hybrid'], new SampleBlobStore(1000));
  await expect(offering).rejects.toThrow(ValidationError);
  await expect(offering).rejects.toThrow(
    /^data of 1 MiB does not fit into the queue; set launcher\.blobMebibytes higher/,
  );
});

test('texts that must stay on this machine are not sent', async () => {
  const runner = await openRunner({});
  const [first, ...others] = runner.dataset.queries;
  const dataset = { ...runner.dataset, queries: [{ ...first!, attributes: { sensitive: true } }, ...others] };
  const blobs = new SampleBlobStore();
  const offering = offerData(Object.assign(Object.create(runner), { dataset }) as ArmRunner, ['hybrid'], blobs);
  await expect(offering).rejects.toThrow(SensitiveTextError);
  expect(blobs.blobs.size).toBe(0);
});

test.each([
  [
    'a run file',
    { other: [{ search: { run: { file: join(root, 'ranked.trec') } } }] },
    undefined,
    /run file .*ranked\.trec/,
  ],
  [
    'a plugin',
    {},
    (config: ExperimentConfig) => ({
      ...config,
      plugins: [{ name: 'p', version: '1', hash: 'h', module: 'own.mjs' }],
    }),
    /plugin own\.mjs/,
  ],
] as const)('%s of this machine is an error with what to do', async (_, arms, change, what) => {
  const runner = await openRunner(arms, change);
  const offering = offerData(
    runner,
    runner.source.config.arms.map(({ name }) => name),
    new SampleBlobStore(),
  );
  await expect(offering).rejects.toThrow(ValidationError);
  await expect(offering).rejects.toThrow(what);
  await expect(offering).rejects.toThrow(/use --launcher local, or slurm with a shared folder$/);
});
