import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ValidationError } from '../core/errors.ts';
import { loadDataset } from '../datasets/registry.ts';
import {
  assertFirstLook,
  describeTestSplit,
  LOOKS_FILE,
  listLooksAt,
  lookLines,
  nextLook,
  publishLooks,
  recordLooks,
  type TestLook,
  type TestSplit,
} from './test-looks.ts';
import { buildSampleTrainingConfig, writeSampleTraining } from './training-config.fixture.ts';
import { trainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-looks-'));
const results = join(root, 'results');
const folder = join(results, 'runs', 'mix-12');
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

const split: TestSplit = { dataset: 'threads', features: ['text', 'time'], contents: ['0a', '0b'] };
const made = { commit: 'abc', backend: 'cpu', command: 'ragpp test-weights x' };
const look = (training: string, number: number, of: TestSplit = split): TestLook => ({
  ...of,
  training,
  number,
  ...made,
});
const listLookNames = (looks: readonly TestLook[]) => looks.map(({ training, number }) => `${training} ${number}`);

test('looks of other trainings count where dataset and features are the same', () => {
  recordLooks(folder, [
    look('other-34', 1),
    look('author-56', 1, { ...split, features: ['text', 'time', 'author'] }),
    look('elsewhere-78', 1, { ...split, dataset: 'chat' }),
    look('another-folder-90', 1, { ...split, contents: ['0c'] }),
    look('grown-91', 1, { ...split, contents: ['0b', '0d'] }),
  ]);
  const { contents: _, ...unknown } = split;
  recordLooks(folder, [look('by-name-92', 1, unknown)]);
  expect(listLookNames(listLooksAt(folder, split))).toEqual(['other-34 1', 'grown-91 1', 'by-name-92 1']);
  expect(listLooksAt(folder, { ...split, features: ['text'] })).toEqual([]);
});

test('those that were published and those of the training itself count once each', () => {
  writeFileSync(join(results, LOOKS_FILE), JSON.stringify({ looks: [look('old-11', 1), look('mix-12', 1)] }));
  writeFileSync(join(folder, 'test.json'), JSON.stringify({ touches: [made, made] }));
  recordLooks(folder, [look('mix-12', 1)]);
  expect(listLookNames(listLooksAt(folder, split))).toEqual(['old-11 1', 'mix-12 1', 'mix-12 2']);
});

test('a look of a folder that was removed and made again is one more', () => {
  expect(nextLook(folder, split, made)).toEqual(look('mix-12', 1));
  recordLooks(folder, [look('mix-12', 1), look('other-34', 5)]);
  writeFileSync(join(folder, 'test.json'), JSON.stringify({ touches: [made] }));
  expect(nextLook(folder, split, made).number).toBe(2);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  recordLooks(folder, [nextLook(folder, split, made)]);
  writeFileSync(join(folder, 'test.json'), JSON.stringify({ touches: [made] }));
  expect(listLookNames(listLooksAt(folder, split))).toEqual(['mix-12 1', 'other-34 5', 'mix-12 2']);
});

test('publishing adds to what was published', () => {
  publishLooks(folder, results);
  expect(listLooksAt(folder, split)).toEqual([]);
  writeFileSync(join(results, LOOKS_FILE), JSON.stringify({ looks: [look('old-11', 1)] }));
  recordLooks(folder, [look('mix-12', 1)]);
  for (let i = 0; i < 2; i++) publishLooks(folder, results);
  const { looks } = JSON.parse(readFileSync(join(results, LOOKS_FILE), 'utf8')) as { looks: TestLook[] };
  expect(listLookNames(looks)).toEqual(['old-11 1', 'mix-12 1']);
});

test('a second look is refused unless it is meant, whichever training made the first', () => {
  const looks = [look('other-34', 1), look('mix-12', 1)];
  expect(() => assertFirstLook([], split, false)).not.toThrow();
  expect(() => assertFirstLook(looks, split, true)).not.toThrow();
  expect(() => assertFirstLook(looks, split, false)).toThrow(ValidationError);
  expect(() => assertFirstLook(looks, split, false)).toThrow(
    'test split of threads was looked at before with the features text, time (2 times, first by other-34 at commit abc); add --again to look once more; the table lists every look',
  );
});

test('looks are a count and a list', () => {
  expect(lookLines([look('other-34', 1), { ...look('mix-12', 1), note: 'with lsa' }])).toEqual([
    'Test split of threads looked at 2 times with the features text, time:',
    '1. other-34, commit abc: ragpp test-weights x',
    '2. mix-12, commit abc (with lsa): ragpp test-weights x',
  ]);
  expect(lookLines([])).toEqual([]);
});

test.each(['{', '[]', '{"looks":[{}]}'])('%s is no list of looks', (text) => {
  const path = join(results, LOOKS_FILE);
  writeFileSync(path, text);
  expect(() => listLooksAt(folder, split)).toThrow(
    `not a list of looks at test splits: ${path}; restore the file from a backup`,
  );
});

describe('the test split of a config', () => {
  test('has what its signals may look at, and the contents of its test conversations', async () => {
    writeSampleTraining(root);
    const parsed = trainingConfig.parse(buildSampleTrainingConfig(root));
    const dataset = await loadDataset(parsed.dataset, { cacheFolder: join(root, 'cache') });
    const found = describeTestSplit(dataset, parsed);
    expect(found).toMatchObject({ dataset: 'jsonl', features: ['text', 'time'] });
    expect(found.contents).toHaveLength(7); // as many as test conversations
    expect(describeTestSplit(dataset, { ...parsed, sameChannel: true }).features).toEqual(['text', 'time', 'channel']);
    const filter = "author = $query.author and not (phase = 'late' or timestamp < 7)";
    const [own, more] = [
      ['text', 'time'],
      ['author', 'attributes'],
    ];
    expect(describeTestSplit(dataset, { ...parsed, filter }).features).toEqual([...own!, ...more!]);
    const dev = { ...dataset, queries: dataset.queries.map((query) => ({ ...query, split: 'dev' as const })) };
    expect(describeTestSplit(dev, parsed).contents).toEqual([]);
  });
});
