import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { ConfigurationError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import { formatRun } from '../../eval/trec/trec-files.ts';
import type { Dataset } from '../../model/dataset.ts';
import { blend, decay, fuse, mix, rerank, score, search, select } from '../../rank/retrieval/steps/functions.ts';
import { buildLadderTable } from '../report/tables/table.ts';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';
import { readRunSummary } from '../stored/run-summary.ts';
import { listFrameRows } from './data-frame.ts';
import { type ArmInput, type ArmMapping, type ExperimentInput, experiment } from './experiment.ts';
import type { FinishedExperiment } from './finished-experiment.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-experiment-'));
afterAll(() => rmSync(folder, { recursive: true }));

const words: ArmInput = [search({ bm25: {} })];
const ARMS: Readonly<Record<string, ArmInput>> = {
  words,
  fading: { from: 'words', then: [decay(24)], tune: { 'decay.halfLifeHours': [6, 96] } },
};

let data: Dataset;
let input: Omit<ExperimentInput, 'baseline'>;
let finished: FinishedExperiment;
beforeAll(async () => {
  await useBackend('cpu');
  writeSampleJsonl(folder);
  data = await loadDataset({ name: 'jsonl', path: folder });
  input = { data, encoder: { encoder: 'lsa', dimension: 13 }, arms: ARMS, metrics: ['mrr@10', 'recall@5'] };
  finished = await experiment({ ...input, evaluation: { samples: 499 } }).run();
});

describe('an experiment from code', () => {
  test('fills in the encoder, the baseline, the metrics and the name', () => {
    const { config } = experiment({ data: { name: 'jsonl', path: folder }, arms: ARMS });
    expect(config.embedding).toMatchObject({ encoder: 'lsa', dimension: 512 });
    expect(config.evaluation).toMatchObject({
      baseline: 'words',
      metrics: ['mrr@10', 'recall@10', 'ndcg@10', 'recall@1'],
    });
    expect(config.name).toBe('experiment');
    expect(config.arms.map(({ name }) => name)).toEqual(['words', 'fading']);
  });

  test('takes an encoder and a seed for an arm, and several seeds', () => {
    const arms = { words, small: { from: 'words', embedding: { dimension: 7 }, seed: 3 } } as const;
    const { config } = experiment({ ...input, arms, seeds: 2 });
    expect(config.arms.map(({ name, seed }) => [name, seed])).toEqual([
      ['words', null],
      ['small', 3],
      ['words | seed: 2', 2],
      ['small | seed: 4', 4],
    ]);
    expect(config.arms[1]?.embedding).toMatchObject({ encoder: 'lsa', dimension: 7 });
  });

  test('gives its table, its rankings and its rows', () => {
    const [decided = ''] = buildLadderTable(finished.result).decision;
    expect(decided).toContain('fading');
    for (const format of ['text', 'markdown', 'latex'] as const)
      expect(finished.table(format).replace(/\s+/g, ' ')).toContain(decided);
    expect(finished.table()).toContain('fading');
    expect(finished.table('markdown')).toContain('| fading');
    expect(finished.table('latex')).toContain('\\begin{tabular}');
    expect(finished.table('csv').split('\n')[0]).toContain('arm');
    expect(finished.run('fading').size).toBe(14);
    const rows = finished.rows();
    expect(rows).toHaveLength(2 * finished.result.queries.length);
    const mean = rows.filter(({ arm }) => arm === 'words').reduce((sum, row) => sum + Number(row['mrr@10']), 0) / 13;
    expect(mean).toBeCloseTo(finished.result.arms[0]?.metrics['mrr@10']?.mean as number, 12);
  });

  test('shows itself, its rankings, figures and comparisons in a notebook', async () => {
    const table = await readDisplay(finished);
    expect(table['text/plain']).toBe(finished.table());
    expect(table['text/html']).toMatch(/words \(baseline\).*fading/s);
    expect((await readDisplay(finished.run('fading')))['text/plain']).toContain('run of 14 queries');
    expect(await readDisplay(finished.figure('means'))).toHaveProperty(['application/vnd.plotly.v1+json']);
    const comparison = finished.compare('fading');
    expect((await readDisplay(comparison))['text/plain']).toMatch(
      /^fading minus words in mrr@10, with a 95 % interval\n/,
    );
    expect(JSON.parse(JSON.stringify(comparison))).toEqual(comparison);
    expect(listFrameRows(finished)).toEqual(finished.rows());
  });

  test('compares any two arms, and the other way round with the other sign', () => {
    const there = finished.compare('fading');
    expect(there).toMatchObject({ arm: 'fading', other: 'words', metric: 'mrr@10' });
    const stored = finished.result.arms[1]?.comparisons?.['mrr@10'];
    expect(there.difference).toEqual(stored?.difference);
    expect(there.p).toBe(stored?.p);
    const back = finished.compare('words', 'fading', 'recall@5');
    const forth = finished.compare('fading', 'words', 'recall@5');
    expect(back.difference.mean).toBeCloseTo(-forth.difference.mean, 12);
    expect(back.wins).toBe(forth.losses);
    expect(finished.compare('fading', 'words', 'R@5')).toEqual(forth);
    expect(finished.figure('means', { metric: 'recall_5' })).toEqual(finished.figure('means', { metric: 'recall@5' }));
  });

  test('knows a metric by its names in trec_eval and ir_measures', () => {
    expect(finished.compare('fading', 'words', 'RR@10')).toEqual(finished.compare('fading', 'words', 'mrr@10'));
    expect(finished.compare('fading', 'words', 'recall_5').metric).toBe('recall@5');
    expect(finished.figure('means', { metric: 'R@5' })).toEqual(finished.figure('means', { metric: 'recall@5' }));
    expect(() => finished.compare('fading', 'words', 'nonsense@')).toThrow(/unknown metric: nonsense@; use/);
  });

  test('takes the run file of another system as an arm, and warns of what it lacks', async () => {
    const saved = mkdtempSync(join(tmpdir(), 'ragpp-run-file-'));
    try {
      const run = finished.run('words');
      const file = join(saved, 'theirs.trec');
      writeFileSync(file, formatRun(run, 'theirs'));
      const [missing] = run.keys();
      const partial = join(saved, 'partial.trec');
      writeFileSync(partial, formatRun(new Map([...run].slice(1)), 'partial'));
      const arms = { theirs: [search({ run: { file } })], partial: [search({ run: { file: partial, k: 5 } })] };
      const theirs = await experiment({ ...input, arms, evaluation: { samples: 499 } }).run();
      expect(theirs.result.arms[0]?.perQuery).toEqual(finished.result.arms[0]?.perQuery);
      expect(theirs.run('partial').get(missing as string)).toEqual([]);
      expect([...theirs.run('partial').values()].map(({ length }) => length)).toContain(5);
      expect(theirs.table()).toContain('Warning (missing-queries): partial: 1 of 13');
      const wrong = { theirs: [search({ run: { file: join(saved, 'none.trec') } })] };
      expect(() => experiment({ ...input, arms: wrong })).toThrow(
        /arms\.theirs\S*search\.run\.\w+: expected a run file/,
      );
    } finally {
      rmSync(saved, { recursive: true });
    }
  });

  test('refuses names that it does not have', () => {
    expect(() => finished.compare('fadin')).toThrow('result has no arm: fadin; use fading');
    expect(() => finished.compare('fading', 'words', 'map')).toThrow(/result has no metric: map/);
    expect(() => finished.run('none')).toThrow(ValidationError);
    expect(() => finished.table('pdf' as never)).toThrow('unknown format of a table: pdf');
    expect(() => finished.figure('heat' as never)).toThrow('result has no figure: heat');
    expect(() => finished.figure('means', { metric: 'map' })).toThrow('result has no metric: map');
    expect(() => finished.figure('queries', { arm: 'fade' })).toThrow('result has no arm: fade');
  });

  test('draws Plotly JSON', () => {
    const {
      data: [trace],
      layout,
    } = finished.figure('differences');
    const difference = finished.compare('fading').difference;
    expect(trace).toMatchObject({ type: 'scatter', x: [difference.mean], y: ['fading'] });
    expect(JSON.parse(JSON.stringify(layout))).toEqual(layout);
    expect(finished.figure('means').data[0]).toMatchObject({ y: ['words', 'fading'] });
    const bars = finished.figure('queries', { arm: 'fading', metric: 'recall@5' }).data[0]?.y as number[];
    expect(bars).toHaveLength(13);
    expect(bars).toEqual([...bars].sort((a, b) => b - a));
  });

  test('writes no file, and saves the folder of a run on request', async () => {
    expect(readdirSync(folder).sort()).toEqual(['qrels.txt', 'queries.jsonl', 'turns.jsonl']);
    const results = mkdtempSync(join(tmpdir(), 'ragpp-saved-'));
    try {
      const saved = await finished.save(results);
      expect(readdirSync(results)).toEqual([`experiment-${finished.result.hash}`, 'test-looks.json']);
      expect(finished.table()).not.toContain('Look 1'); // nothing is counted before it is saved
      expect(readFileSync(join(saved, 'table.md'), 'utf8')).toContain('Look 1 at the test split of');
      expect(readdirSync(saved)).toEqual(expect.arrayContaining(['arms', 'config.yaml', 'report.html', 'state.json']));
      expect(readRunSummary(saved).arms.map(({ name }) => name)).toEqual(['words', 'fading']);
    } finally {
      rmSync(results, { recursive: true });
    }
  });

  test('leaves no tensor behind', async () => {
    const before = tf.memory().numTensors;
    await experiment({ ...input, arms: { words } }).run();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('shows progress where it is asked to, and ends by its signal', async () => {
    const stages: string[] = [];
    const progress = (stage: string) => {
      stages.push(stage);
      return { update() {}, finish() {} };
    };
    await experiment({ ...input, arms: { words } }).run({ progress });
    expect(stages).toContain('arms');
    const controller = new AbortController();
    const aborting = (stage: string) => {
      if (stage === 'arms') controller.abort(new Error('enough'));
      return { update() {}, finish() {} };
    };
    const before = tf.memory().numTensors;
    const run = experiment(input).run({ signal: controller.signal, progress: aborting });
    await expect(run).rejects.toThrow('enough');
    expect(tf.memory().numTensors).toBe(before);
    await expect(experiment(input).run({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  });
});

describe('faults of an experiment', () => {
  test('name the path where the program wrote the value', () => {
    const wrong = { ...input, encoder: { encoder: 'lsa', dimension: 0 }, metrics: ['mrr@ten'], baseline: 'word' };
    const act = () => experiment(wrong as ExperimentInput);
    expect(act).toThrow(ConfigurationError);
    for (const part of ['encoder.dimension: expected', 'metrics[0]: expected', 'baseline: expected'])
      expect(act).toThrow(part);
  });

  test('refuse the names of a config file', () => {
    const wrong = { ...input, embedding: { encoder: 'lsa' }, evaluation: { baseline: 'words' } } as never;
    expect(() => experiment(wrong)).toThrow(/embedding: .*did you mean encoder/);
    expect(() => experiment(wrong)).toThrow(/evaluation\.baseline: .*did you mean baseline/);
  });

  test('tell data that are none', () => {
    expect(() => experiment({ arms: ARMS } as never)).toThrow(/data: expected a dataset/);
    expect(() => experiment({ ...input, data: { name: 'jsonll', path: 'x' } as never })).toThrow(
      /data\.name: .*did you mean jsonl/,
    );
  });

  test('a run of data that a program held cannot be repeated from its config alone', async () => {
    const run = experiment({ data: { name: 'memory' }, arms: ARMS }).run();
    await expect(run).rejects.toThrow(UnavailableError);
  });
});

test('functions give the plain objects of a config file, and both the same arms', () => {
  const written = [
    [search({ words: { index: 'bm25', k: 7 }, flat: {} }), { search: { words: { index: 'bm25', k: 7 }, flat: {} } }],
    [fuse({ convex: { flat: 0.8, words: 'rest' } }), { fuse: { convex: { flat: 0.8, words: 'rest' } } }],
    [decay(24), { decay: 24 }],
    [blend({ trajectory: 0.3, rcp: { mode: 'directed' } }), { blend: { trajectory: 0.3, rcp: { mode: 'directed' } } }],
    [select({ mmr: { k: 5 } }), { select: { mmr: { k: 5 } } }],
  ] as const;
  for (const [step, plain] of written) expect(step).toEqual(plain);
  const build = (part: 0 | 1) => experiment({ ...input, arms: { all: written.map((pair) => pair[part]) } }).config;
  expect(build(0)).toEqual(build(1));
  expect(build(0).arms[0]).toMatchObject({ steps: ['search', 'fuse', 'decay', 'blend', 'select'] });
});

test('a fault in a step is at its place in the list', () => {
  const steps = [search({ bm25: {} }), { decay: -1 }] as const;
  expect(() => experiment({ ...input, arms: { words: steps } })).toThrow(/arms\.words\[1\]\.decay/);
});

test('an editor knows every key', () => {
  expectTypeOf<ExperimentInput>().toHaveProperty('baseline');
  expectTypeOf<ArmMapping>().toHaveProperty('from');
  const arm: ArmInput = [search({ hnsw: { m: 16 }, words: { index: 'bm25', stem: true } }), fuse('rrf')];
  expect(arm).toHaveLength(2);
  // @ts-expect-error: no such key
  const misspelt: ArmInput = { from: 'words', thn: [] };
  // @ts-expect-error: no such index
  const unknown: ArmInput = [search({ annoy: {} })];
  // @ts-expect-error: no such index of a named source
  const named: ArmInput = [search({ mine: { index: 'annoy' } })];
  // @ts-expect-error: bm25 has no m
  const foreign: ArmInput = [search({ bm25: { m: 16 } })];
  // @ts-expect-error: bm25 has no m by another name either
  const renamed: ArmInput = [search({ words: { index: 'bm25', m: 16 } })];
  // @ts-expect-error: a run file has no depth
  const file: ArmInput = [search({ run: { file: 'x.trec', depth: 5 } })];
  // @ts-expect-error: no such signal
  const signal: ArmInput = [search({ bm25: {} }), score({ cosinus: {} })];
  // @ts-expect-error: no such fusion
  const fused: ArmInput = [search({ bm25: {} }), fuse({ rff: {} })];
  // @ts-expect-error: no such fusion by its name alone
  const short: ArmInput = [search({ bm25: {} }), fuse('rff')];
  // @ts-expect-error: decay has no half-life in days
  const nested: ArmInput = [search({ bm25: {} }), decay({ halfLifeDays: 3 })];
  // @ts-expect-error: no such blend
  const blended: ArmInput = [search({ bm25: {} }), blend({ rpc: 0.3 })];
  // @ts-expect-error: the diversity filter does not rerank
  const ordered: ArmInput = [search({ bm25: {} }), rerank('diversity-filter')];
  // @ts-expect-error: no such step
  const step: ArmInput = [{ serch: {} }];
  // @ts-expect-error: no such step to add to
  const adding: ArmInput = { from: 'words', then: [{ 'search+': { hnsw: {} } }, { 'serch+': {} }] };
  // @ts-expect-error: no such metric of a comparison of arms
  const metric: ExperimentInput = { data: { name: 'irc', path: 'x' }, arms: {}, metrics: [10] };
  // @ts-expect-error: no such key of an experiment
  const key: ExperimentInput = { data: { name: 'irc', path: 'x' }, arms: {}, metric: ['mrr'] };
  // @ts-expect-error: no such dataset
  const source: ExperimentInput = { data: { name: 'locomoo', path: 'x' }, arms: {} };
  // @ts-expect-error: no such key of the evaluation
  const evaluation: ExperimentInput['evaluation'] = { sample: 10 };
  // @ts-expect-error: no such method of a sweep
  const sweep: ExperimentInput['sweep'] = { method: 'gird', arm: 'a', factors: {} };
  // @ts-expect-error: an encoder has no path
  const encoder: ExperimentInput['encoder'] = { encoder: 'lsa', path: 'x' };
  // @ts-expect-error: no data
  const without: ExperimentInput = { arms: { words } };
  expect([misspelt, unknown, named, foreign, renamed, file, signal, fused, short, nested]).toHaveLength(10);
  expect([blended, ordered, step, adding, metric, key, source, evaluation, sweep, encoder, without]).toHaveLength(11);
});

test('an editor knows the names of the arms', () => {
  const build = [
    () => experiment({ data, arms: { words, fading: { from: 'words', then: [decay(6)] } }, baseline: 'fading' }),
    // @ts-expect-error: no such arm to begin with
    () => experiment({ data, arms: { words, fading: { from: 'wrods', then: [decay(6)] } } }),
    // @ts-expect-error: no such arm to compare with
    () => experiment({ data, arms: { words }, baseline: 'wrods' }),
  ] as const;
  expect(build[0]().config.evaluation.baseline).toBe('fading');
  for (const refused of build.slice(1)) expect(refused).toThrow(ConfigurationError);
});

test('an arm of an experiment from code may be fitted, and its folder has the weights', async () => {
  const model = { name: 'linear', signals: ['bm25@share', 'cosine@share'], initial: { 'bm25@share': 1 } } as const;
  const small = {
    epochs: 1,
    seeds: 1,
    l2: [0.01],
    folds: 2,
    innerFolds: 2,
    resamples: 0,
    importance: false,
    controls: false,
  };
  const learned = [search({ bm25: { k: 7 } }), mix({ signals: { groups: ['text'] }, fit: { model, ...small } })];
  const fitted = await experiment({ ...input, arms: { learned } }).run();
  const { fit, baseline, arms } = fitted.result;
  expect([baseline, arms.at(-1)?.name, fit?.numbers.length]).toEqual(['hand-tuned', 'learned', 2]);
  const names = readdirSync(await fitted.save(join(folder, 'fitted')));
  expect(names).toContain('weights-linear.safetensors');
  expect(names).not.toContain('state.json');
});
