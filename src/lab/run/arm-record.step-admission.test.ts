import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import { renderMarkdown } from '../report/tables/markdown.ts';
import { describeIdleSteps } from '../report/tables/side-tables.ts';
import { readArmRecord, writeArmRecord } from './arm-record.ts';
import { writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-step-admission-'));
afterAll(() => rmSync(root, { recursive: true }));
let backend: BackendName;
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(root);
});

const REASON = 'a prompt has room for every turn';
const words = [{ search: { bm25: { k: 17 } } }];
const resolve = (arms: object) =>
  resolveConfig(
    {
      name: 'admission',
      seed: 3,
      dataset: { name: 'jsonl', path: root },
      embedding: { encoder: 'lsa', dimension: 13 },
      evaluation: { baseline: 'words', samples: 199, metrics: ['mrr@10'], split: 'all', depth: 17 },
      arms: { words, ...arms },
    },
    'test',
  );
const run = (arms: object): Promise<FinishedRun> =>
  runExperiment(resolve(arms), { backend, cacheFolder: join(root, 'cache'), command: '' });

const packed = { from: 'words', then: [{ decay: 24 }, { pack: 1_000_000 }] };
const explained = { from: 'words', then: [{ decay: 24 }, { pack: 1_000_000, unchanged: REASON }] };

test('an arm fails where a step changes no query, with its name and what to do', async () => {
  const { result, runs } = await run({ packed, faded: { from: 'words', then: [{ decay: 24 }] } });
  expect(result.failures).toEqual([
    {
      name: 'packed',
      description: '',
      code: 'VALIDATION',
      message:
        'arm packed: step pack changes none of 46 queries; leave it out, change the options, or say why beside the step: unchanged: REASON',
    },
  ]);
  expect([...runs.keys()]).toEqual(['words', 'faded']);
  expect(result.arms[1]?.steps).toEqual([{ step: 'decay', queries: expect.any(Number), of: 46 }]);
  expect(result.arms[1]?.steps?.[0]?.queries).toBeGreaterThan(0);
});

test('a stated reason admits the step and is in table, record and figures; a second run counts the same', async () => {
  const first = await run({ packed: explained });
  expect(first.result.failures).toEqual([]);
  const { steps = [] } = first.result.arms[1]!;
  expect(steps[1]).toEqual({ step: 'pack', queries: 0, of: 46, reason: REASON });
  const table = renderMarkdown(first.result);
  expect(table).toMatch(new RegExp(`packed +\\| decay ${steps[0]?.queries}, pack 0 +\\| 46 +\\| pack: ${REASON} +\\|`));
  expect(describeIdleSteps(first.result.arms)).toEqual([`step pack of packed changes none of 46 queries: ${REASON}`]);
  const { arms } = JSON.parse(runFiles(first)['metrics.json'] as string);
  expect(arms[1].steps).toEqual(steps);
  const warm = await run({ packed: explained });
  expect(warm.result.arms.map((arm) => arm.steps)).toEqual(first.result.arms.map((arm) => arm.steps));
  expect(warm.runs).toEqual(first.runs);
  expect(Object.values(warm.result.stages).every(({ executed }) => executed === 0)).toBe(true);
});

test('a step that is tuned to change nothing says so', async () => {
  const blended = { from: 'words', then: [{ blend: { trajectory: 0 } }], tune: { 'blend.trajectory.weight': [0] } };
  const { result } = await run({ blended });
  expect(result.failures).toEqual([]);
  const reason = 'tuned: blend.trajectory.weight 0';
  expect(result.arms[1]?.steps).toEqual([{ step: 'blend.trajectory', queries: 0, of: 46, reason }]);
});

test('the counts of a record are read back', async () => {
  const record = (await run({ packed: explained })).records.find(({ name }) => name === 'packed')!;
  const path = join(root, 'record.safetensors');
  writeArmRecord(path, record);
  expect(readArmRecord(path).changes).toEqual(record.changes);
});

test('a null control may have steps that change nothing, and reports them', async () => {
  const { result } = await run({
    placed: { from: 'words', then: [{ blend: { trajectory: 0.3 } }, { pack: 1_000_000, unchanged: REASON }] },
    random: { from: 'placed', control: { kind: 'random-parents' }, set: { pack: { tokens: 2_000_000 } } },
  });
  expect(result.failures).toEqual([]);
  expect(result.arms[2]?.steps?.map(({ step }) => step)).toEqual(['blend.trajectory', 'pack']);
});

test('an arm takes reasons over from the arm that it starts from, and sets them', () => {
  const { arms } = resolve({
    packed: explained,
    wider: { from: 'packed', set: { 'unchanged.decay': 'every turn has one time' } },
  });
  expect(arms.map(({ unchanged }) => unchanged)).toEqual([
    undefined,
    { pack: REASON },
    { pack: REASON, decay: 'every turn has one time' },
  ]);
});

test.each<[object, string]>([
  [{ from: 'words', then: [{ decay: 24, unchanged: '' }] }, 'arms.wrong.unchanged.decay'],
  [{ from: 'words', then: [{ decay: 24 }], set: { 'unchanged.decai': REASON } }, 'arms.wrong.set.unchanged.decai'],
])('a reason that is empty or of no step is an error of the config: %j', (wrong, path) => {
  let faults: string[] = [];
  try {
    resolve({ wrong });
  } catch (error) {
    faults = (error as ConfigurationError).faults.map((fault) => fault.path);
  }
  expect(faults).toEqual([path]);
});
