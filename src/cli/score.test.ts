import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-score-'));
afterAll(() => rmSync(root, { recursive: true }));
const BUDGETS = '10,20,50';
let run: string;
const runFile = (name: string) => join(run, 'runs', `${name}.trec`);
const readJson = (folder: string) => JSON.parse(readFileSync(join(folder, 'metrics.json'), 'utf8'));

beforeAll(async () => {
  writeSampleJsonl(root);
  const config = join(root, 'sample.yaml');
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
  const arms = [
    '--arm',
    'newest',
    '--arm',
    'hybrid',
    '--set',
    'arms.hybrid.tune={}',
    '--set',
    `evaluation.tokenBudgets=[${BUDGETS}]`,
  ];
  const folders = ['--cache', join(root, 'cache'), '--results', join(root, 'runs')];
  expect((await runRagpp('run', config, ...arms, ...folders)).code).toBe(0);
  run = join(root, 'runs', readdirSync(join(root, 'runs'))[0] as string);
});

/** Scores the arms of the run. @returns the folder of the result, and what was printed */
async function score(...flags: string[]): Promise<{ folder: string; stdout: string }> {
  const results = mkdtempSync(join(root, 'scores-'));
  const files = [join(run, 'qrels.trec'), runFile('newest'), runFile('hybrid')];
  const { code, stdout, stderr } = await runRagpp('score', ...files, '--results', results, ...flags);
  expect(stderr).toMatch(/^statistics: \d+ arms in \d+ metrics \(\d+\.\d s\)\n$/);
  expect(code).toBe(0);
  return { folder: join(results, readdirSync(results)[0] as string), stdout };
}

test('metrics have the names of other programs, with brackets and spaces between them', async () => {
  const { folder } = await score('--metrics', 'RBP(rel=1,p=0.8), nDCG@10,map(rel=2)@5,recip_rank');
  expect(readJson(folder).metrics).toEqual(['rbp(0.8,rel=1)', 'ndcg@10', 'map(rel=2)@5', 'mrr']);
});

test('superseded documents of a file are measured, kept in the folder, and measured again by rescore', async () => {
  const [[query = '', , first = ''] = [], [, , second = ''] = []] = readFileSync(runFile('newest'), 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const path = join(root, 'old.tsv'); // the folder is a dataset, which reads superseded.tsv
  writeFileSync(path, `${query} ${first} ${second}\n`);
  const { folder } = await score('--superseded', path, '--metrics', 'mrr@10,stale@1,missing-replacement@1');
  const [newest] = readJson(folder).arms;
  const { queries } = readJson(folder);
  for (const metric of ['stale@1', 'missing-replacement@1'])
    expect(newest.metrics[metric].mean).toBeCloseTo(1 / queries, 12);
  expect(readFileSync(join(folder, 'superseded.tsv'), 'utf8')).toBe(`${query}\t${first}\t${second}\n`);
  const again = await runRagpp('rescore', folder, '--metrics', 'stale@1');
  expect(again.code).toBe(0);
  const without = await runRagpp('score', join(run, 'qrels.trec'), runFile('newest'), '--metrics', 'mrr@10,stale@1');
  expect(without.stderr).toContain('metric needs the superseded documents of each query: stale@1');
});

describe('the rankings of a run, scored from its files', () => {
  const asInTheRun = () => [
    ...['--baseline', 'hybrid', '--clusters', join(run, 'queries.jsonl'), '--metrics', 'mrr@10,recall@5,ndcg@10,map'],
    ...['--samples', '499', '--seed', '3'],
  ];

  test('have the figures, intervals and tests of the run', async () => {
    const { folder, stdout } = await score(...asInTheRun());
    const [expected, got] = [readJson(run), readJson(folder)];
    const pickFigures = ({ arms }: { arms: Record<string, unknown>[] }) =>
      arms.map(({ name, metrics, comparisons, holes }) => ({ name, metrics, comparisons, holes }));
    expect(pickFigures(got)).toEqual(pickFigures(expected));
    expect(pickFigures(got)).toHaveLength(2);
    expect({ queries: got.queries, conversations: got.conversations }).toEqual({
      queries: expected.queries,
      conversations: expected.conversations,
    });
    expect(stdout).toContain('report: ');
  });

  test('leave the files of a run, which other commands read', async () => {
    const { folder } = await score(...asInTheRun(), '--name', 'other systems');
    expect(folder).toMatch(/other-systems-[0-9a-f]{12}$/);
    const files = ['table.md', 'table.tex', 'table.csv', 'report.html', 'per-query.parquet', 'qrels.trec', 'runs'];
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(files));
    const rescored = await runRagpp('rescore', folder, '--metrics', 'mrr@5');
    expect(rescored).toMatchObject({ code: 0 });
    const compared = await runRagpp('compare', folder, (await score(...asInTheRun())).folder);
    expect(compared).toMatchObject({ code: 0 });
  });

  test('name the command with every option that changes a figure', async () => {
    const { folder } = await score('--seed', '3', '--baseline', 'hybrid', '--metrics', 'mrr@10,map');
    const { command } = JSON.parse(readFileSync(join(folder, 'environment.json'), 'utf8'));
    expect(command).toMatch(
      /^ragpp score .*qrels\.trec .*hybrid\.trec --metrics 'mrr@10,map' --baseline hybrid --seed 3$/,
    );
  });

  test('depend on nothing but the files and the options', async () => {
    const [once, again] = [await score(), await score()];
    for (const file of ['metrics.json', 'per-query.jsonl', 'table.tex'])
      expect(readFileSync(join(once.folder, file), 'utf8')).toBe(readFileSync(join(again.folder, file), 'utf8'));
  });

  test('hold every warning in the table, the page and metrics.json', async () => {
    const { folder, stdout } = await score('--metrics', 'recall@5', '--documents', join(run, 'turns.jsonl'));
    const { warnings } = readJson(folder);
    const codes = warnings.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(['unequal-depths', 'recall-is-hit-rate', 'unjudged-queries', 'unjudged-queries']);
    for (const text of [
      stdout,
      ...['table.md', 'table.tex', 'report.html'].map((name) => readFileSync(join(folder, name), 'utf8')),
    ])
      expect(text).toContain('Warning (recall-is-hit-rate): every query has one relevant document');
  });
});

describe('the folder of a stored run', () => {
  const scoreFolder = async (typed: string, ...flags: string[]) => {
    const results = mkdtempSync(join(root, 'folders-'));
    const fixed = ['--results', results, '--metrics', 'mrr@10', '--samples', '99', ...flags];
    const outcome = await runRagpp('score', join(run, 'qrels.trec'), typed, ...fixed);
    return { ...outcome, folder: join(results, readdirSync(results)[0] as string) };
  };
  const pickNames = (folder: string) => readJson(folder).arms.map(({ name }: { name: string }) => name);

  test('is a system for each arm', async () => {
    expect(pickNames((await scoreFolder(run)).folder)).toEqual(['newest', 'hybrid']);
    expect(pickNames((await scoreFolder(`mine=${run}`)).folder)).toEqual(['mine newest', 'mine hybrid']);
  });

  test('has figures by stratum, and a warning for each stratum below 50 queries', async () => {
    const strata = join(root, 'strata');
    const ids = readFileSync(join(run, 'queries.jsonl'), 'utf8').match(/(?<="id":")[^"]+/g) as string[];
    writeFileSync(strata, ids.map((id, i) => `${id} ${i % 2 === 0 ? 'exact' : 'multi-hop'}\n`).join(''));
    const { folder, stdout } = await scoreFolder(run, '--strata', strata);
    const { strata: divisions } = JSON.parse(readFileSync(join(folder, 'strata.json'), 'utf8'));
    expect(divisions).toMatchObject([{ name: 'kind', levels: [{ name: 'exact' }, { name: 'multi-hop' }] }]);
    expect(stdout).toMatch(/Warning \(small-stratum\): stratum exact has \d+ queries, fewer than 50/);
    expect(stdout).toMatch(/Warning \(small-stratum\): stratum multi-hop/);
  });
});

test.each([
  [['--metrics', 'mrx@3'], 1, 'unknown metric: mrx@3; use mrr@3'],
  [['--metrics', 'mrr,mrr'], 1, 'metric is listed twice: mrr; list it once'],
  [['--baseline', 'hybird'], 1, 'no system has the name of the baseline: hybird; use hybrid'],
  [['--level', '1'], 2, 'not between 0 and 1'],
])('%j is refused', async (flags, code, message) => {
  const files = [join(run, 'qrels.trec'), runFile('newest'), runFile('hybrid')];
  const outcome = await runRagpp('score', ...files, '--results', join(root, 'none'), ...flags);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toContain(message);
});

test('a judged query without a cluster is named', async () => {
  const clusters = join(root, 'clusters');
  writeFileSync(clusters, 'q99 c1\n');
  const outcome = await runRagpp('score', join(run, 'qrels.trec'), runFile('newest'), '--clusters', clusters);
  expect(outcome.stderr).toMatch(/clusters have no query: q\d+-\d; give the conversation of every judged query/);
});

describe('rankings scored with the dataset itself', () => {
  async function scoreData(...flags: string[]) {
    const results = mkdtempSync(join(root, 'data-'));
    const data = [
      '--data',
      'jsonl',
      '--set',
      `dataset.path=${root}`,
      '--split',
      'test',
      '--cache',
      join(root, 'cache'),
    ];
    const outcome = await runRagpp('score', ...data, '--results', results, ...flags);
    const [name] = readdirSync(results);
    return { ...outcome, folder: join(results, name ?? 'none') };
  }

  test('have the figures, strata and inspector of the run', async () => {
    const metrics = ['--metrics', 'mrr@10,recall@5,ndcg@10,map', '--token-budgets', BUDGETS];
    const settings = [...metrics, '--samples', '499', '--seed', '3'];
    const { code, stdout, folder } = await scoreData(
      ...[runFile('newest'), runFile('hybrid'), '--baseline', 'hybrid', ...settings],
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Look 1 at the test split of jsonl \(\d+ test queries\)\.$/m);
    expect(readdirSync(join(folder, '..'))).toContain('test-looks.json');
    const [expected, got] = [readJson(run), readJson(folder)];
    const pick = ({ arms, dataset: { hash } }: { arms: Record<string, unknown>[]; dataset: { hash: string } }) => ({
      hash,
      arms: arms.map(({ name, metrics, comparisons, holes }) => ({ name, metrics, comparisons, holes })),
    });
    expect(pick(got)).toEqual(pick(expected));
    const readText = (of: string, file: string) => readFileSync(join(of, file), 'utf8');
    expect(JSON.parse(readText(folder, 'strata.json')).strata).toEqual(JSON.parse(readText(run, 'strata.json')).strata);
    expect(readText(folder, 'queries.jsonl')).toBe(readText(run, 'queries.jsonl'));
  });

  test('by session count a turn of a relevant session, and warn of cut-offs that cover the sessions', async () => {
    // The sample has two channels; each query has one relevant turn.
    const metrics = ['--metrics', 'recall@1,recall@2', '--granularity', 'session'];
    const { code, stdout, stderr, folder } = await scoreData(runFile('hybrid'), ...metrics);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^statistics: 1 arms in \d+ metrics \(\d+\.\d s\)\n$/m);
    const { passports, arms, dataset } = readJson(folder);
    expect(passports['recall@1'].granularity).toBe('session');
    expect(dataset.split).toBe('test, by session');
    expect(arms[0].metrics['recall@2'].mean).toBe(1);
    expect(stdout).toContain('Warning (cutoff-covers-collection): recall@2, hybrid: as deep as the 2 documents');
  });

  test('have the evidence of the run against tokens', async () => {
    const settings = ['--metrics', 'recall@20t', '--token-budgets', BUDGETS, '--samples', '499', '--seed', '3'];
    const { code, stderr, folder } = await scoreData(runFile('newest'), runFile('hybrid'), ...settings);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^statistics: 2 arms in \d+ metrics /m);
    const [expected, got] = [readJson(run), readJson(folder)].map(({ arms }) =>
      arms.map(({ evidence }: { evidence: object }) => evidence),
    );
    expect(got).toEqual(expected);
    expect(got[1]).toMatchObject({ budgets: [10, 20, 50], recall: [{}, { mean: expect.any(Number) }, {}] });
    expect(readJson(folder).arms[1].metrics['recall@20t'].mean).toBe(got[1].recall[1].mean);
    expect(got[1].recall[1].mean).toBeLessThan(got[1].ceiling[1].mean);
    expect(readFileSync(join(folder, 'table.md'), 'utf8')).toContain('| evidence within | 10 ');
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('id="evidence-figure"');
  });

  test.each([
    ['20', 'expected array >= 2, got [20]'],
    ['50,20', 'ascending numbers'],
    ['20,x', '[1]: expected number'],
  ])('within token budgets %s are refused', async (list, message) => {
    const { code, stderr } = await scoreData(runFile('newest'), '--token-budgets', list);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test('with a turn that the query cannot see warn of it', async () => {
    const ahead = join(root, 'ahead.trec');
    writeFileSync(
      ahead,
      `${readFileSync(runFile('newest'), 'utf8').replaceAll(/ newest$/gm, ' ahead')}q19-0 Q0 t22-0 99 -9 ahead\n`,
    );
    const { stdout } = await scoreData(runFile('newest'), ahead, '--metrics', 'mrr@3');
    expect(stdout).toMatch(/Warning \(later-documents\): ahead: 1 turns are not earlier than .*\(t22-0 for q19-0\)/);
  });

  test.each([
    [['--relevant-grade', '2'], '--relevant-grade beside --data, which has its own; leave it out'],
    [['--baseline', 'x', '--clusters', 'x'], '--clusters beside --data'],
    [
      ['--token-budgets', '20,50', '--granularity', 'session'],
      '--token-budgets need the texts of turns; name a dataset',
    ],
  ])('%j is refused', async (flags, message) => {
    const { code, stderr } = await scoreData(runFile('newest'), ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test.each([
  [['--token-budgets', '20,50', 'x.trec'], '--token-budgets need the texts of turns; name a dataset with --data'],
  [['--set', 'dataset.path=x'], '--set or --granularity without --data; name a dataset'],
  [[], 'judgements and at least 1 run file needed, got 1 file; name a run file'],
])('without --data %j is refused', async (flags, message) => {
  const { code, stderr } = await runRagpp('score', join(run, 'qrels.trec'), ...flags);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
