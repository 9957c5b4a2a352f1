import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { activeBackend, useBackend } from '../src/core/tensors/backend.ts';
import { runBenchCommand } from './command.harness.ts';
import { type Cost, measureGroup, type PeerRow } from './peers/measure.ts';
import { findInstalled, installPython } from './peers/venv.ts';
import { compareNumbers, compareRankings, type WorkGroup, writeSettings } from './peers/work.ts';
import { WORK_GROUP_NAMES, WORK_GROUPS, type WorkGroupName } from './peers/works.ts';
import { formatGroupMarkdown, formatGroupReport, formatGroupTable } from './peers.ts';

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => void rmSync(folder, { recursive: true })));

const MISSING = { missing: 'not installed' } as const;
const SEED = 3;

async function measureSmall(name: WorkGroupName, find: (requirements: string) => ReturnType<typeof installPython>) {
  const works = (await WORK_GROUPS[name]()).listWorks('small');
  return {
    works,
    report: await measureGroup(name, { size: 'small', seed: SEED, rounds: 0, works, backend: 'wasm', find }),
  };
}

test('numbers are equal within a tolerance, and a missing one differs', () => {
  expect(compareNumbers([1, 200, Number.NaN], [1.01, 201, Number.NaN], 0.011)).toEqual({
    ...{ compared: 3, differ: 0, note: 'within 9.9e-3' },
  });
  expect(compareNumbers([1, 2], [1, 2], 0)).toEqual({ compared: 2, differ: 0, note: 'equal' });
  expect(compareNumbers([1, 2, 3], [1, Number.NaN], 1)).toMatchObject({ compared: 3, differ: 2 });
  expect(compareNumbers([1], [1, 0], 1)).toMatchObject({ compared: 2, differ: 1 });
});

test('rankings may differ in the order of equal scores', () => {
  const compare = (theirs: readonly number[]) =>
    compareRankings(Float64Array.of(7, 0.9, 5, 0.5, 6, 0.5, 2, 0.3), Float64Array.from(theirs), 4, 1e-6);
  expect(compare([7, 0.9, 5, 0.5, 6, 0.5, 2, 0.3])).toEqual({ compared: 8, differ: 0, note: 'equal' });
  expect(compare([7, 0.9, 6, 0.5, 5, 0.5, 3, 0.3])).toEqual({
    compared: 8,
    differ: 0,
    note: 'equal, 3 places by ties',
  });
  expect(compare([8, 0.9, 5, 0.5, 6, 0.5, 2, 0.3])).toMatchObject({ differ: 1 });
  expect(compare([7, 0.9, 5, 0.5, 6, 0.4, 2, 0.3])).toMatchObject({ differ: 1 });
});

describe.each(WORK_GROUP_NAMES)('%s', (name) => {
  test('a wrong result differs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'peers-test-'));
    folders.push(folder);
    const group = await WORK_GROUPS[name]();
    const works = group.listWorks('small');
    writeSettings(folder, { size: 'small', seed: SEED, works });
    await group.prepare(folder, 'small', SEED);
    const ours = await group.open(folder, 'wasm');
    expect(Object.keys(ours)).toEqual(expect.arrayContaining([...works]));
    for (const work of works) {
      const result = await (await ours[work]!())();
      expect(result.length, work).toBeGreaterThan(0);
      expect(group.compare(work, result, result.slice(), folder), work).toMatchObject({ differ: 0 });
      const wrong = result.map((value) => value + 1);
      expect(group.compare(work, wrong, result, folder).differ, work).toBeGreaterThan(0);
    }
  });

  test('the peers that are installed have the same results', async ({ skip }) => {
    const { works, report } = await measureSmall(name, (requirements) => findInstalled(requirements) ?? MISSING);
    const installed = report.versions.size;
    const { peers } = (await WORK_GROUPS[name]()) as WorkGroup;
    const expected = peers
      .filter((peer) => report.versions.has(peer.name))
      .map((peer) => works.filter((work) => peer.works?.includes(work) ?? true));
    expect(report.rows).toHaveLength(expected.flat().length);
    expect(report.rows.filter(({ comparison }) => comparison.differ > 0)).toEqual([]);
    expect(report.skipped.every(({ reason }) => reason === MISSING.missing)).toBe(true);
    if (installed === 0) skip(`no peer is installed: npm run bench -- peers --only ${name}`);
  }, 300_000); // numba compiles for half a minute
});

test.each(['vectors', 'ring'] as const)('our works of %s compute on the backend that is asked for', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'peers-test-'));
  folders.push(folder);
  const group = await WORK_GROUPS[name]();
  writeSettings(folder, { size: 'small', seed: SEED, works: group.listWorks('small') });
  await group.prepare(folder, 'small', SEED);
  try {
    await group.open(folder, 'cpu');
    expect(activeBackend()).toBe('cpu');
  } finally {
    await useBackend('wasm');
  }
});

test('the command compares and times a group beside its peer, or says why not', async () => {
  const python = installPython('trec-requirements.txt');
  const { status, output } = await runBenchCommand('peers', '--only', 'read-qrels,evaluate', '--rounds', '1');
  expect(status).toBe(0);
  const expected = 'command' in python ? 'ratio' : 'skip';
  for (const work of ['read-qrels', 'evaluate']) expect(output).toContain(`${expected} ${work} pytrec_eval`);
  expect(output).not.toContain('read-run');
}, 240_000); // the packages of the peer may have to be installed

test('unknown works, sizes and documents are refused before the work', async () => {
  const unknown = await runBenchCommand('peers', '--only', 'read-nothing');
  expect(unknown).toMatchObject({
    status: 2,
    errors: expect.stringContaining('unknown --only: read-nothing; use read-run'),
  });
  const size = await runBenchCommand('peers', '--size', 'large');
  expect(size).toMatchObject({ status: 2, errors: 'unknown --size: large; use one of small, published\n' });
  const document = await runBenchCommand('peers', '--only', 'trec', '--document', 'docs/commands.md');
  expect(document).toMatchObject({ status: 2, errors: expect.stringContaining('<!-- peers/trec -->') });
  const backend = await runBenchCommand('peers', '--backend', 'torch');
  expect(backend).toMatchObject({ status: 2, errors: expect.stringContaining('unknown --backend: torch; use cuda,') });
  const place = ['--only', 'ring', '--backend', 'cpu', '--document', 'docs/performance.md'];
  expect(await runBenchCommand('peers', ...place)).toMatchObject({
    ...{ status: 2, errors: expect.stringContaining('<!-- peers/ring/cpu -->') },
  });
  const part = await runBenchCommand('peers', '--only', 'read-run', '--document', 'docs/performance.md');
  expect(part).toMatchObject({ status: 2, errors: expect.stringContaining('not read-run; use --only trec') });
});

const cost = (seconds: number): Cost => ({ seconds, wallSeconds: 2 * seconds, peakBytes: 1e8 * seconds });
const same = { compared: 5, differ: 0, note: 'equal' };
const ours = [cost(1), cost(4), cost(3)];
const row = (peer: string, seconds: number): PeerRow => ({
  ...{ work: 'sort', peer, comparison: same, ours, theirs: [cost(seconds), cost(seconds), cost(seconds)] },
});

test('docs/performance.md has a place for the table of each group', () => {
  const document = readFileSync(new URL('../docs/performance.md', import.meta.url), 'utf8');
  expect(WORK_GROUP_NAMES.filter((name) => !document.includes(`\n<!-- peers/${name} -->\n`))).toEqual([]);
});

test('ratios are those of rounds; the table has the fastest peer', () => {
  const wrong = { work: 'sort', peer: 'wrong', comparison: { ...same, differ: 2 }, ours: [], theirs: [] };
  const rows = [row('slow', 4), row('fast', 2), wrong];
  const report = {
    ...{ group: 'trec' as const, description: 'five numbers', versions: new Map([['fast', 'fast==1']]) },
    ...{ rows, skipped: [{ work: 'sort', peer: 'absent', reason: 'no pip' }] },
  };
  expect(formatGroupReport(report).split('\n')).toEqual([
    'trec: five numbers',
    'peer fast: fast==1',
    'skip sort absent: no pip',
    'same sort slow: 5 values; equal',
    'same sort fast: 5 values; equal',
    'differ sort wrong: 2 of 5 values; equal',
    'ratio sort slow 0.25 0.75 1.00; wall 0.25 0.75 1.00; 3.00 s beside 4.00; 300 MB beside 400',
    'ratio sort fast 0.50 1.50 2.00; wall 0.50 1.50 2.00; 3.00 s beside 2.00; 300 MB beside 200',
  ]);
  expect(formatGroupMarkdown(report, { command: 'sort', place: 'here' })).toMatch(
    /^`sort`:\nfive numbers; fast==1;\nhere\. Not measured: absent\.\n\n\| work /,
  );
  const [, , ...lines] = formatGroupTable(rows).split('\n');
  expect(lines.map((line) => line.split('|').map((cell) => cell.trim()))).toEqual([
    ['', 'sort', 'fast', '0.50', '1.50', '2.00', '1.50', '3.00', '2.00', '300', '200', 'equal', 'slow 0.75', ''],
  ]);
});
