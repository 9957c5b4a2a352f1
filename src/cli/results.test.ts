import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SAMPLE_RUN, writeSampleRun } from '../lab/run/run-folder.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-results-'));
afterAll(() => rmSync(root, { recursive: true }));
writeSampleRun(join(root, 'ladder-1'), SAMPLE_RUN);
writeSampleRun(join(root, 'other-2'), {
  ...SAMPLE_RUN,
  experiment: 'other',
  hash: '222',
  date: null,
  arms: { newest: [1, 1, 1, 1, 1, 1] },
});

const listStoredResults = (...argv: string[]) => runRagpp('results', root, ...argv);

test('a table of the arms of all runs, in the order of the folders', async () => {
  expect(await listStoredResults()).toEqual({
    code: 0,
    stdout: [
      'experiment  hash          date        dataset  split  queries  arm       mrr@10',
      'ladder      a1b2c3d4e5f6  2026-01-31  threads  test   6        bm25      .458',
      'ladder      a1b2c3d4e5f6  2026-01-31  threads  test   6        cosine    .542',
      'ladder      a1b2c3d4e5f6  2026-01-31  threads  test   6        broken    —',
      'ladder      a1b2c3d4e5f6  2026-01-31  threads  test   6        hopeless  —',
      'other       222           —           threads  test   6        newest    1.000',
      'other       222           —           threads  test   6        broken    —',
      'other       222           —           threads  test   6        hopeless  —',
      '',
    ].join('\n'),
    stderr: '7 of 7 arms in 2 runs\n',
  });
});

test('filtered, sorted, cut and with other columns', async () => {
  const { stdout, stderr } = await listStoredResults(
    ...['--where', 'status=finished', '--where', 'mrr@10>0.5', '--sort', '-mrr@10'],
    ...['--columns', 'arm,mrr@10,mrr@10.p,level.weight', '--limit', '1'],
  );
  expect(stdout).toBe('arm     mrr@10  mrr@10.p  level.weight\ncosine  .542    .040      0.5\n');
  expect(stderr).toBe('1 of 7 arms in 2 runs\n');
});

test('where no arm meets the conditions, the heading stands alone', async () => {
  for (const sort of [[], ['--sort', 'mrr@10']]) {
    const { code, stdout, stderr } = await listStoredResults('--where', 'arm=none', '--columns', 'arm,hash', ...sort);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'arm  hash\n', stderr: '0 of 7 arms in 2 runs\n' });
  }
});

describe('arms of different queries', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-results-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const runs = { a: ['test', 0.5], b: ['dev', 1], c: ['test', 0.25] } as const;
  for (const [name, [split, value]] of Object.entries(runs))
    writeSampleRun(join(folder, name), {
      ...SAMPLE_RUN,
      split,
      arms: Object.fromEntries(
        [0.1, 0].map((less, at) => [`${name}${at}`, SAMPLE_RUN.queries.map(() => value - less)]),
      ),
    });
  const listFinishedArms = (...more: string[]) =>
    runRagpp('results', folder, '--where', 'status=finished', '--columns', 'arm', '--sort', ...more);

  test('are not ranked together by a metric, unless asked for', async () => {
    const { stdout, stderr } = await listFinishedArms('mrr@10');
    expect(stdout).toBe('arm\na1\na0\nc1\nc0\n\nb1\nb0\n');
    expect(stderr).toBe(
      '6 of 12 arms in 3 runs; 2 query sets, each sorted by itself: --mix-query-sets sorts them together\n',
    );
    expect((await listFinishedArms('-mrr@10.low')).stdout).toBe('arm\nc0\nc1\na0\na1\n\nb0\nb1\n');
    expect((await listFinishedArms('mrr@10', '--csv')).stdout).toBe('arm\na1\na0\nc1\nc0\nb1\nb0\n');
    const mixed = await listFinishedArms('mrr@10', '--mix-query-sets');
    expect(mixed.stdout).toBe('arm\nb1\nb0\na1\na0\nc1\nc0\n');
    expect(mixed.stderr).toBe('6 of 12 arms in 3 runs\n');
  });

  test('are cut by a limit set by set', async () => {
    expect((await listFinishedArms('mrr@10', '--limit', '1')).stdout).toBe('arm\na1\n\nb1\n');
    expect((await listFinishedArms('mrr@10', '--limit', '1', '--mix-query-sets')).stdout).toBe('arm\nb1\n');
  });

  test('are sorted together by what is no figure', async () => {
    expect((await listFinishedArms('-arm')).stdout).toBe('arm\nc1\nc0\nb1\nb0\na1\na0\n');
  });
});

test('as CSV and JSON, with all digits', async () => {
  const columns = ['--columns', 'arm,mrr@10,baseline', '--where', 'experiment=ladder'];
  expect((await listStoredResults('--csv', ...columns)).stdout).toBe(
    `arm,mrr@10,baseline\nbm25,${2.75 / 6},true\ncosine,${3.25 / 6},false\nbroken,,\nhopeless,,\n`,
  );
  expect(JSON.parse((await listStoredResults('--json', ...columns)).stdout)).toEqual([
    { arm: 'bm25', 'mrr@10': 2.75 / 6, baseline: true },
    { arm: 'cosine', 'mrr@10': 3.25 / 6, baseline: false },
    { arm: 'broken', 'mrr@10': null, baseline: null },
    { arm: 'hopeless', 'mrr@10': null, baseline: null },
  ]);
});

test('a folder that is no run of arms is left out, aloud', async () => {
  const damaged = join(root, 'ladder-1', 'metrics.json');
  writeFileSync(damaged, '{');
  const { code, stdout, stderr } = await listStoredResults('--where', 'status=finished');
  expect(code).toBe(0);
  expect(stdout).not.toContain('cosine');
  expect(stderr).toBe(
    `left out: not the metrics of a run: ${damaged}; name the folder of a run\n1 of 3 arms in 1 runs\n`,
  );
  writeSampleRun(join(root, 'ladder-1'), SAMPLE_RUN);
});

test('what a terminal would obey is written out in every form', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-results-'));
  writeSampleRun(join(folder, 'foreign-3'), {
    ...SAMPLE_RUN,
    arms: { '\x1b]0;owned\x07\x1b[2J\x9b31m': [1, 1, 1, 1, 1, 1] },
  });
  for (const form of [[], ['--csv'], ['--json']]) {
    const { stdout } = await runRagpp('results', folder, ...form);
    expect(stdout).toContain('\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m');
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
  }
  const [arm] = JSON.parse((await runRagpp('results', folder, '--json')).stdout);
  expect(arm.arm).toBe('\x1b]0;owned\x07\x1b[2J\x9b31m');
  expect((await runRagpp('results', folder, '--sort', '\x1b[2J')).stderr).toMatch(
    /no run has the field: .*\\u001b\[2J; use one of /,
  );
  rmSync(folder, { recursive: true });
});

test.each([
  ['a field that no run has', ['--sort', 'mrr@1'], 1, 'ragpp [VALIDATION]: no run has the field: mrr@1; use mrr@10\n'],
  [
    'a condition that is none',
    ['--where', 'arm'],
    2,
    /not a condition: arm; write <field><operator><value> with one of .*/,
  ],
  ['a limit that is none', ['--limit', '0'], 2, /not a whole number from 1; give a number of rows/],
  ['two forms at once', ['--csv', '--json'], 2, /'--json' cannot be used with option '--csv'/],
])('refuses %s', async (_, argv, code, message) => {
  const outcome = await listStoredResults(...argv);
  expect(outcome).toMatchObject({ code, stdout: '' });
  if (typeof message === 'string') expect(outcome.stderr).toBe(message);
  else expect(outcome.stderr).toMatch(message);
});

test('a folder without a run is an error', async () => {
  const empty = mkdtempSync(join(root, 'empty-'));
  expect(await runRagpp('results', empty)).toMatchObject({
    code: 1,
    stderr: `ragpp [VALIDATION]: folder has no run: ${empty}; name a results folder, or run an experiment\n`,
  });
});
