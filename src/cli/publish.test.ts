import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ValidationError } from '../core/errors/errors.ts';
import { isSameQuerySet, isSameSplit, type TestSplit } from '../lab/measure/passport.ts';
import { LOOKS_FILE, readLooks } from '../lab/measure/test-looks.ts';
import { escapeMarkdown } from '../lab/report/tables/pipe-table.ts';
import { PROJECT_ROOT } from '../lab/run/environment.ts';
import { withTable } from './actions/publish.ts';
import { runRagpp } from './command.harness.ts';

const document =
  'before\n<!-- results/x/table.md -->\nold\n<!-- end of table -->\nafter\n<!-- results/y/table.md -->\n<!-- end of table -->\n';

test('only the block of the experiment is replaced', () => {
  const changed = withTable(document, 'results/x/table.md', '| new |\n');
  expect(changed).toBe(
    'before\n<!-- results/x/table.md -->\n\n| new |\n\n<!-- end of table -->\nafter\n<!-- results/y/table.md -->\n<!-- end of table -->\n',
  );
  expect(withTable(changed, 'results/x/table.md', '| new |\n')).toBe(changed);
});

test('a document without the block is refused', () => {
  expect(() => withTable(document, 'results/z/table.md', '')).toThrow(ValidationError);
});

test('every table of a document is the published one', () => {
  const studies = readdirSync(join(PROJECT_ROOT, 'experiments'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('README.md'))
    .map((file) => join('experiments', file));
  const documents = [
    'docs/quickstart.md',
    'docs/findings.md',
    'docs/learned-weights.md',
    'docs/query-understanding.md',
    'docs/datasets/corrections.md',
    'docs/datasets/multihop.md',
    'docs/datasets/r-mailing-list.md',
    'docs/datasets/shop.md',
    'docs/datasets/spamassassin-threads.md',
    ...studies,
  ];
  const tables = documents.flatMap((path) => {
    const text = readFileSync(join(PROJECT_ROOT, path), 'utf8');
    const named = [...text.matchAll(/<!-- results\/([^/]+\/(?:table|test)\.md) -->/g)].map(
      ([, table]) => table as string,
    );
    for (const table of named)
      expect(withTable(text, `results/${table}`, readFileSync(join(PROJECT_ROOT, 'results', table), 'utf8'))).toBe(
        text,
      );
    return named;
  });
  const published = readdirSync(join(PROJECT_ROOT, 'results'), { recursive: true, encoding: 'utf8' });
  expect(tables.sort()).toEqual(published.filter((path) => /^(?!runs)[^/]+\/(table|test)\.md$/.test(path)).sort());
});

describe('the published looks at test splits', () => {
  const looks = readLooks(join(PROJECT_ROOT, 'results', LOOKS_FILE));

  const listFolders = (file: string) =>
    readdirSync(join(PROJECT_ROOT, 'results'))
      .map((name) => join(PROJECT_ROOT, 'results', name))
      .filter((folder) => existsSync(join(folder, file)));
  const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

  test('have every published run on a test split, and every test of weights', () => {
    const runs = listFolders('metrics.json')
      .map((folder) => readJson(join(folder, 'metrics.json')))
      .filter(({ dataset }) => dataset?.split === 'test')
      .map(({ experiment, hash }) => `${experiment}-${hash}`);
    expect(runs.length).toBeGreaterThan(10);
    expect(runs.filter((run) => !looks.some((look) => look.run === run))).toEqual([]);
    const tested = listFolders('test.json').map((folder) => readFileSync(join(folder, 'test.md'), 'utf8').trimEnd());
    expect(tested.length).toBeGreaterThan(2);
    const commands = looks.map(({ command }) => escapeMarkdown(command));
    expect(tested.filter((page) => !commands.some((command) => page.endsWith(`; ${command}`)))).toEqual([]);
  });

  test('at the mails of 2002 are as many as their page says', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'docs/datasets/spamassassin-threads.md'), 'utf8');
    const name = 'spamassassin-threads';
    const [split] = looks.filter(({ dataset, queries }) => dataset === name && queries?.count === 467);
    const all = looks.filter((look) => isSameSplit(look, split as TestSplit));
    const these = all.filter((look) => isSameQuerySet(look, split as TestSplit));
    expect(page).toContain(
      `${all.length} looks at the test split are known, ${these.length} of them at these 467 queries`,
    );
  });
});

describe('publishing', () => {
  const root = mkdtempSync(join(tmpdir(), 'ragpp-publish-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const run = join(root, 'run');
  const readme = join(root, 'README.md');
  const results = join(root, 'results');
  const files = {
    'config.yaml': 'a',
    'curve.csv': 'c',
    'environment.json': '{}',
    'metrics.json': '{"experiment": "x"}',
    'strata.json': '{}',
    'table.csv': 'x',
    'table.md': '| x |',
    'table.tex': '\\hline',
    'users.json': '{}',
    'weights-linear.safetensors': 'w',
  };
  const publish = () => runRagpp('publish', run, '--document', readme, '--results', results);
  beforeEach(() => {
    mkdirSync(run, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(run, name), text);
    writeFileSync(readme, document);
    for (const folder of [results, join(root, 'theirs')]) rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => rmSync(run, { recursive: true }));

  test('copies the small files and puts the table in its place, as often as asked', async () => {
    for (let i = 0; i < 2; i++) expect(await publish()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(results, 'x')).sort()).toEqual(Object.keys(files));
    expect(readFileSync(readme, 'utf8')).toBe(withTable(document, 'results/x/table.md', '| x |'));
  });

  test('what was found on a test split is published with the rest, and in its own place', async () => {
    writeFileSync(join(run, 'test.json'), '{}');
    writeFileSync(join(run, 'test.md'), '| t |');
    expect((await publish()).stderr).toMatch(/document has no block for table results\/x\/test\.md; add the lines /m);
    const both = `${document}<!-- results/x/test.md -->\n<!-- end of table -->\n`;
    writeFileSync(readme, both);
    expect(await publish()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(results, 'x'))).toEqual(expect.arrayContaining(['test.json', 'test.md']));
    expect(readFileSync(readme, 'utf8')).toBe(
      withTable(withTable(both, 'results/x/table.md', '| x |'), 'results/x/test.md', '| t |'),
    );
    for (const name of ['test.json', 'test.md']) rmSync(join(run, name));
    const { code, stderr } = await publish();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^ragpp \[VALIDATION\]: figures of other weights on the test split: .*x\/test\.json; delete them, or run ragpp test-weights first$/m,
    );
  });

  test('looks at test splits that are listed beside the run are added to the published list', async () => {
    const look = { dataset: 'd', features: [], run: 'run', commit: 'c', backend: 'cpu', command: 'x' };
    const list = join(root, LOOKS_FILE);
    writeFileSync(list, JSON.stringify({ looks: [look] }));
    expect(await publish()).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(readFileSync(join(results, LOOKS_FILE), 'utf8'))).toEqual({ looks: [look] });
    rmSync(list);
  });

  test.each([
    ['a run that lacks a file', () => rmSync(join(run, 'table.md')), /^ragpp \[STORAGE\]: cannot read .*table\.md; /],
    [
      'metrics that are no JSON',
      () => writeFileSync(join(run, 'metrics.json'), '{'),
      /^ragpp \[VALIDATION\]: file has no experiment name of .*metrics\.json; publish the folder of a run$/,
    ],
    [
      'an experiment that is a path out of the results',
      () => writeFileSync(join(run, 'metrics.json'), '{"experiment": "../theirs"}'),
      /^ragpp \[VALIDATION\]: file has no experiment name of .*metrics\.json; publish the folder of a run$/,
    ],
    ...['table.md', 'table.csv', 'metrics.json'].map((name): [string, () => void, RegExp] => [
      `a run whose ${name} is a link`,
      () => {
        renameSync(join(run, name), join(root, 'elsewhere'));
        symlinkSync(join(root, 'elsewhere'), join(run, name));
      },
      /^ragpp \[STORAGE\]: cannot use \(it is a symbolic link, .*run\/(table|metrics)\.(md|csv|json); remove the link$/,
    ]),
    [
      'a document without the block',
      () => writeFileSync(readme, ''),
      /^ragpp \[VALIDATION\]: document has no block for table results\/x\/table\.md; add the lines /,
    ],
  ])('refuses %s, and leaves everything as it was', async (_, spoil, message) => {
    spoil();
    const before = readFileSync(readme, 'utf8');
    const { code, stderr } = await publish();
    expect(code).toBe(1);
    expect(stderr.trimEnd()).toMatch(message);
    expect(existsSync(results)).toBe(false);
    expect(readFileSync(readme, 'utf8')).toBe(before);
  });

  test.each([
    ['the folder of the experiment', () => symlinkSync(join(root, 'theirs'), join(results, 'x'))],
    [
      'a published file',
      () => {
        mkdirSync(join(results, 'x'));
        symlinkSync(join(root, 'theirs', 'table.md'), join(results, 'x', 'table.md'));
      },
    ],
    [
      'the document',
      () => {
        renameSync(readme, join(root, 'theirs', 'README.md'));
        symlinkSync(join(root, 'theirs', 'README.md'), readme);
      },
    ],
  ])('refuses a link in the place of %s, and what it points to stays', async (_, link) => {
    mkdirSync(results);
    mkdirSync(join(root, 'theirs'));
    writeFileSync(join(root, 'theirs', 'table.md'), 'theirs');
    link();
    const before = readdirSync(join(root, 'theirs'));
    const { code, stderr } = await publish();
    rmSync(readme);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^ragpp \[STORAGE\]: cannot use \(it is a symbolic link, which is not followed\): .*; remove the link$/m,
    );
    expect(readdirSync(join(root, 'theirs'))).toEqual(before);
    expect(readFileSync(join(root, 'theirs', 'table.md'), 'utf8')).toBe('theirs');
  });
});
