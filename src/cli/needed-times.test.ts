import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../core/errors/errors.ts';
import { loadDataset } from '../data/registry.ts';
import type { Plain } from '../lab/composition/config-file.ts';
import { buildSampleTrainingConfig, changeSampleTraining } from '../lab/training/training-config.fixture.ts';
import { type ArmInput, experiment } from '../lab/workbench/experiment.ts';
import { blend, decay, mix, search } from '../rank/retrieval/steps/functions.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-times-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Trees of messages: data with an order and without times. */
function writeTrees(): string {
  const lines = ['oak', 'elm', 'ash', 'fir', 'yew'].map((topic) => {
    const message = (id: string, replies: readonly object[]) => ({
      message_id: `${topic}-${id}`,
      text: `the ${topic} ${id} of ${id}`,
      role: 'prompter',
      replies,
    });
    return JSON.stringify({
      message_tree_id: topic,
      prompt: message('root', [message('bark', [message('leaf', [])]), message('seed', [])]),
    });
  });
  writeFileSync(join(root, 'trees.jsonl'), lines.join('\n'));
  return join(root, 'trees.jsonl');
}
const data = { name: 'oasst', path: writeTrees() } as const;

const words = search({ bm25: {} });

const FADING: ArmInput = [words, decay(6)];
const REFUSED: readonly (readonly [name: string, arm: ArmInput, part: string, remedy: string])[] = [
  ['fading', FADING, 'fading reads decay with half-life 6 hours', 'leave the step decay out'],
  [
    'tuned',
    { from: 'words', then: [decay(24)], tune: { decay: [null, { halfLifeHours: 7 }] } },
    'tuned reads decay with half-life 7 hours',
    'leave the step decay out',
  ],
  [
    'placed',
    [words, blend({ trajectory: {} })],
    'placed reads trajectory coordinate temporal',
    'set weights.temporal of trajectory: 0',
  ],
  [
    'paths',
    [words, blend({ tpo: {} })],
    'paths reads attention tpo by trajectory coordinate temporal',
    'set weights.temporal of trajectory: 0',
  ],
  [
    'mixed',
    [words, mix({ weights: { 'decay.24h': 1, age: 0, 'thread.depth': 1 } })],
    'mixed reads scoring signal decay.24h;',
    'remove its weight from the weights of the mix',
  ],
];
const ACCEPTED: Readonly<Record<string, ArmInput>> = {
  newest: [search({ newest: {} })],
  ring: [words, blend({ rcp: {} })],
  shape: [words, { ...blend({ trajectory: { weights: { temporal: 0 } } }), unchanged: 'each word names one turn' }],
  branch: [words, mix({ weights: { age: 0, 'thread.depth': 1 } })],
};

function buildInput(arms: Readonly<Record<string, ArmInput>>) {
  const encoder = { encoder: 'lsa', dimension: 3, minDocumentFrequency: 1, maxDocumentShare: 1 } as const;
  const evaluation = { split: 'all', samples: 100 } as const;
  return { data, encoder, arms: { words: [words], ...arms }, backend: 'cpu', metrics: ['mrr@10'], evaluation } as const;
}

/** The same as a config file. */
function writeConfig(
  name: string,
  { data: dataset, encoder, metrics, evaluation, ...rest }: ReturnType<typeof buildInput>,
) {
  const path = join(root, `${name}.yaml`);
  const config = {
    name,
    dataset,
    embedding: encoder,
    ...rest,
    evaluation: { ...evaluation, metrics, baseline: 'words' },
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

describe('an arm that needs times, on data without times', () => {
  test.each(REFUSED)('is refused by name: %s', async (name, arm, part, remedy) => {
    const act = experiment(buildInput({ [name]: arm })).run();
    await expect(act).rejects.toThrow(ValidationError);
    await expect(act).rejects.toThrow('dataset oasst has an order of turns but no times, and arm ');
    await expect(act).rejects.toThrow(part);
    await expect(act).rejects.toThrow(`${remedy}; or leave the arm out`);
  });

  test('is refused by `ragpp run` and by the plan of `ragpp config show`', async () => {
    const path = writeConfig('refused', buildInput({ fading: FADING }));
    const folders = ['--cache', join(root, 'cache')];
    for (const argv of [
      ['run', path, ...folders, '--results', join(root, 'runs')],
      ['config', 'show', path, ...folders],
    ]) {
      const { code, stderr } = await runRagpp(...argv);
      expect(code).toBe(1);
      expect(stderr).toContain('arm fading reads decay with half-life 6 hours');
    }
  });

  test('is accepted on data with times', async () => {
    const loaded = await loadDataset(data);
    const dataset = { ...loaded, declaration: { ...loaded.declaration, times: 'real' as const } };
    const finished = await experiment({
      ...buildInput({ fading: FADING }),
      data: dataset,
    }).run();
    expect(finished.result.arms).toHaveLength(2);
  });
});

test('an arm that reads only the order of turns runs on data without times', async () => {
  const finished = await experiment(buildInput(ACCEPTED)).run();
  expect(finished.result.failures).toEqual([]);
  expect(finished.result.arms).toHaveLength(1 + Object.keys(ACCEPTED).length);
});

test('a fit that needs times is refused by name, and one of other signals is trained', async () => {
  const { embedding } = buildSampleTrainingConfig(root);
  const runFit = (name: string, set: Plain = {}) => {
    const path = join(root, `${name}.yaml`);
    const encoder = { ...embedding, dimension: 2, minDocumentFrequency: 1, maxDocumentShare: 1 };
    const changes = { 'mix.fit.importance': false, ...set };
    const config = changeSampleTraining(root, changes, { embedding: encoder, dataset: data });
    writeFileSync(path, JSON.stringify(config));
    return runRagpp('run', path, '--cache', join(root, 'cache'), '--results', join(root, name));
  };
  const refused = await runFit('refused-model');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    'arm learned reads scoring signal decay.24h; list other signals in mix.fit.model.signals',
  );
  const trajectory = await runFit('refused-trajectory', { 'mix.fit.model': { name: 'trajectory' } });
  expect(trajectory.stderr).toContain('arm learned reads age in hours and coordinate temporal');
  const accepted = await runFit('accepted-model', { 'mix.fit.model.signals': ['bm25@share', 'cosine@share'] });
  expect(accepted.code, accepted.stderr).toBe(0);
});

test('`ragpp data` says that times are only an order', async () => {
  const { stdout } = await runRagpp('data', 'oasst', '--set', `path=${data.path}`, '--cache', join(root, 'cache'));
  expect(stdout).toMatch(/\n {2}times +made up from an order; arms that need times are refused\n/);
});
