import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { openRun } from './stored-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-stored-'));
afterAll(() => rmSync(root, { recursive: true }));

const arm = { description: '', tuned: { a: [1] }, levels: null, control: null };
const metrics = {
  experiment: 'x',
  hash: 'abc',
  baseline: 'a × b',
  statistics: { samples: 199, level: 0.9 },
  arms: [
    { ...arm, name: 'a × b' },
    { ...arm, name: 'c', levels: { k: '7' }, control: { of: 'a × b', kind: 'random-parents' } },
  ],
  failures: [{ name: 'd', description: '', code: 'X', message: 'y' }],
  dataset: {
    ...{ name: 'n', task: 't', features: ['text'], licence: 'l', relevantGrade: 2, gradeNames: { 2: 'parent' } },
    ...{ hash: 'data', split: 'test', facts: { turns: 3 } },
  },
};
const environment = {
  ...{ version: '1', commit: 'c', node: 'v20', backend: 'wasm', packages: {}, seed: 3, command: 'ragpp run' },
  machine: { platform: 'p', cpu: 'q', cores: 2, memoryGiB: 7.5 },
};
const buildStoredQuery = (id: string) => ({
  ...{ id, text: 'x', timestamp: 5, author: null, channel: 'y', cluster: 'k', kind: null, turnId: null },
});
const formatStoredLines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const files: Readonly<Record<string, string>> = {
  'metrics.json': JSON.stringify({ ...metrics, more: 'of it' }),
  'config.yaml': 'name: x\nseed: 3\n',
  'environment.json': JSON.stringify({ ...environment, stages: {} }),
  'queries.jsonl': formatStoredLines({ ...buildStoredQuery('q1'), answerable: true }, buildStoredQuery('q0')),
  'turns.jsonl': formatStoredLines(
    { id: 't1', conversation: 'k', tokens: 7 },
    { id: 't0', conversation: 'm', tokens: 0 },
  ),
  'qrels.trec': 'q1 0 t0 2\n',
  'runs/a-b.trec': 'q1 Q0 t1 1 0.75 a-b\nq1 Q0 t0 2 0.5 a-b\n',
  'runs/c.trec': 'q0 Q0 t0 1 -1 c\n',
};
beforeEach(() => {
  mkdirSync(join(root, 'runs'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
});

test('a run is what its files say, its queries in their order, its rankings by the arms and not by the files', () => {
  const stored = openRun(root);
  const runs = new Map(Array.from(stored.runs, ([arm, run]) => [arm, new Map(run)]));
  expect({ ...stored, runs }).toEqual({
    repetitions: new Map(),
    superseded: null,
    folder: root,
    summary: metrics,
    config: { name: 'x', seed: 3 },
    environment,
    queries: [buildStoredQuery('q1'), buildStoredQuery('q0')],
    qrels: new Map([['q1', new Map([['t0', 2]])]]),
    runs: new Map([
      [
        'a × b',
        new Map([
          [
            'q1',
            [
              { id: 't1', score: 0.75 },
              { id: 't0', score: 0.5 },
            ],
          ],
        ]),
      ],
      ['c', new Map([['q0', [{ id: 't0', score: -1 }]]])],
    ]),
    conversations: new Map([
      ['t1', 'k'],
      ['t0', 'm'],
    ]),
    tokens: new Map([
      ['t1', 7],
      ['t0', 0],
    ]),
  });
});

test.each([
  ['metrics.json', 'metrics.json', JSON.stringify({ ...metrics, arms: [] })],
  ['metrics.json', 'metrics.json', '{'],
  ['environment.json', 'environment.json', JSON.stringify({ ...environment, seed: 0.5 })],
  [
    'queries.jsonl:2',
    'queries.jsonl',
    formatStoredLines(buildStoredQuery('q1'), { ...buildStoredQuery('q0'), cluster: 7 }),
  ],
  ['turns.jsonl:1', 'turns.jsonl', formatStoredLines({ id: 't1' }, { id: 't0', conversation: 'm' })],
])('%s that is not as this version writes it is named', (place, name, text) => {
  writeFileSync(join(root, name), text);
  const where = join(root, place);
  const error = new ValidationError(`not part of a run of this version: ${where}; run the experiment again`, { where });
  expect(() => openRun(root)).toThrow(error);
});

test('a folder without queries is no finished run; without rankings it cannot be read', () => {
  rmSync(join(root, 'runs', 'c.trec'));
  expect(() => openRun(root)).toThrow(StorageError);
  rmSync(join(root, 'queries.jsonl'));
  const message = `folder has no queries.jsonl: ${root}; name the folder of a finished run, or run it again`;
  expect(() => openRun(root)).toThrow(new ValidationError(message, { folder: root }));
});

test('a notebook shows the arms of a run, with the rankings of each', async () => {
  const { 'text/plain': text } = await readDisplay(openRun(root));
  expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
    'x: 2 queries of n',
    'arm               rankings  description',
    'a × b (baseline)         1',
    'c                        1',
    'd failed: y',
  ]);
});
