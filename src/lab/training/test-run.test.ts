import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { resolveConfig } from '../config/config.ts';
import type { TestLook } from '../measure/passport.ts';
import { LOOKS_FILE } from '../measure/test-looks.ts';
import { assertFirstLook, listFeatures, listWeightsLooks, lookLines, type WeightsSplit } from './test-run.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { readTraining } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-looks-'));
const results = join(root, 'results');
const folder = join(results, 'runs', 'mix-12');
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

const split: WeightsSplit = { dataset: 'threads', features: ['text', 'time'], contents: ['0a', '0b'] };
const made = { commit: 'abc', backend: 'cpu', command: 'ragpp test-weights x' };
const look = (run: string, of: Partial<TestLook> = {}): TestLook => ({ ...split, ...of, run, ...made });
const listLookRuns = () => listWeightsLooks(folder, split).map(({ run }) => run);

test('looks of weights are those with the same features, wherever they are listed', () => {
  const { features: _, ...noWeights } = look('run-56');
  writeFileSync(join(results, LOOKS_FILE), JSON.stringify({ looks: [look('old-11'), noWeights] }));
  const own = [look('other-34'), look('author-56', { features: ['text', 'time', 'author'] }), look('old-11')];
  writeFileSync(join(results, 'runs', LOOKS_FILE), JSON.stringify({ looks: own }));
  expect(listLookRuns()).toEqual(['old-11', 'other-34']);
});

test('a second look is refused unless it is meant, whichever training made the first', () => {
  const looks = [look('other-34'), look('mix-12')];
  expect(() => assertFirstLook([], split, false)).not.toThrow();
  expect(() => assertFirstLook(looks, split, true)).not.toThrow();
  expect(() => assertFirstLook(looks, split, false)).toThrow(ValidationError);
  expect(() => assertFirstLook(looks, split, false)).toThrow(
    'test split of threads was looked at before with the features text, time (2 times, first by other-34 at commit abc); add --again to look once more; the table lists every look',
  );
});

test('looks are a count and a list', () => {
  const numbered = { dataset: 'threads', number: 5, numberAtQueries: 5, queries: 29 };
  expect(lookLines(numbered, [look('other-34'), { ...look('mix-12'), note: 'with lsa' }])).toEqual([
    'Look 5 at the test split of threads (29 test queries). By weights with the features text, time, 2 times:',
    '1. other-34, commit abc: ragpp test-weights x',
    '2. mix-12, commit abc (with lsa): ragpp test-weights x',
  ]);
});

test('the features of a config are what its signals may look at', () => {
  const { arms, ...config } = buildSampleTrainingConfig(root);
  const [search, mix] = arms.learned.steps;
  const list = (...learned: readonly unknown[]) =>
    listFeatures(readTraining(resolveConfig({ ...config, arms: { learned } }, 'test')));
  expect(list(search, mix)).toEqual(['text', 'time']);
  expect(list(search, { filter: 'channel = $query.channel' }, mix)).toEqual(['text', 'time', 'channel']);
  const filter = "author = $query.author and not (phase = 'late' or timestamp < 7)";
  expect(list({ filter }, search, mix)).toEqual(['text', 'time', 'author', 'attributes']);
});
