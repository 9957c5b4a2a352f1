import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { type FinishedRecord, formatFinished, readFinished } from '../lab/stored/finished-record.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-finished-'));
afterAll(() => rmSync(root, { recursive: true }));
const [data, results] = [join(root, 'data'), join(root, 'results')];
const config = join(root, 'sample.yaml');
const theirs = join(root, 'theirs.trec');

const start = (...more: string[]) =>
  runRagpp('run', config, '--cache', join(root, 'cache'), '--results', results, ...more);

/** Every file of the results with its content and the time of its last change, which a run that writes it moves. */
function readResults(): Record<string, string> {
  const names = readdirSync(results, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(results, name)).filter((path) => statSync(path).isFile());
  const describeFile = (path: string) =>
    `${statSync(path).ctimeMs} ${statSync(path).ino} ${readFileSync(path, 'latin1')}`;
  return Object.fromEntries(files.map((path) => [path, describeFile(path)]));
}

const SHOWN =
  /^shown from the run of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: same config, data, backend and code; --again runs it again$/m;
/** The report of the arms of a run that is computed. */
const MEASURED = /^arms: 3 arms on \d+ queries/m;

let first: Awaited<ReturnType<typeof start>>;
let folder: string;
beforeAll(async () => {
  const { arms, ...rest } = buildSampleConfig('data') as { arms: Record<string, unknown> };
  const theirArm = [{ search: { run: { path: 'theirs.trec', k: 5 } } }];
  const chosen = { newest: arms.newest, hybrid: arms.hybrid, theirs: theirArm };
  writeFileSync(config, JSON.stringify({ ...rest, arms: chosen }));
  mkdirSync(data);
  writeSampleJsonl(data);
  writeFileSync(theirs, 'q20-0 Q0 t3-0 1 2.5 x\n');
  first = await start();
  expect(first.code, first.stderr).toBe(0);
  folder = join(results, readdirSync(results).find((name) => name.startsWith('sample-')) as string);
});

test('the same run is shown from its folder, of which nothing is written again, and the look is not counted again', async () => {
  const before = readResults();
  const again = await start();
  expect({ ...again, stderr: '' }).toEqual({ ...first, stderr: '' });
  expect(again.stderr).toMatch(SHOWN);
  expect(again.stderr).not.toMatch(MEASURED);
  expect(readResults()).toEqual(before);
});

test('where arms run does not matter', async () => {
  expect((await start('--workers', '2')).stderr).toMatch(SHOWN);
});

test.each([['--again'], ['--resume'], ['--retry-failed'], ['--profile']])('%s computes', async (option) => {
  const { code, stderr } = await start(option);
  expect(code).toBe(0);
  expect(stderr).not.toMatch(SHOWN);
  expect(stderr).toMatch(/^arms: \d arms on/m);
  expect((await start()).stderr).toMatch(SHOWN);
});

test('another config is another run', async () => {
  const { code, stderr } = await start('--set', 'seed=5');
  expect(code).toBe(0);
  expect(stderr).toMatch(MEASURED);
  expect((await start('--set', 'seed=5')).stderr).toMatch(SHOWN);
  expect((await start()).stderr).toMatch(SHOWN);
});

describe('a change makes the run computed again:', () => {
  /** The files as they were, put back with the times that they had. */
  let kept: { readonly path: string; readonly copy: string }[] = [];
  function change(path: string, content: string | null): void {
    const copy = join(root, 'kept');
    copyFileSync(path, copy);
    kept.push({ path, copy });
    const { atime, mtime } = statSync(path);
    if (content === null) rmSync(path);
    else writeFileSync(path, content);
    if (content !== null) utimesSync(path, atime, mtime); // a time that is put back hides nothing
  }
  beforeEach(() => {
    for (const { path, copy } of kept) copyFileSync(copy, path);
    kept = [];
  });
  const read = (path: string) => readFileSync(path, 'utf8');
  const expectComputed = async () => {
    const { code, stderr } = await start();
    expect(code, stderr).toBe(0);
    expect(stderr).not.toMatch(SHOWN);
    expect(stderr).toMatch(MEASURED);
  };

  test.each([
    ['the config', config, (text: string) => text.replace('"samples":499', '"samples":491')],
    ['a turn of the data', join(data, 'turns.jsonl'), (text: string) => text.replace('we ', 'wo ')],
    ['a judgement', join(data, 'qrels.txt'), (text: string) => text.replace('t3-2 1', 't3-1 1')],
    ['a file that the config names', theirs, (text: string) => text.replace('t3-0', 't3-1')],
  ])('%s', async (_, path, edit) => {
    const edited = edit(read(path));
    expect(edited).not.toBe(read(path));
    change(path, edited);
    await expectComputed();
  });

  test.each([
    ['report.html', ''],
    ['metrics.json', '{}\n'],
    ['runs/hybrid.trec', null],
    ['table.csv', null],
    ['arms/hybrid.safetensors', null],
    ['finished.json', '{"shown":'],
    ['finished.json', null],
    ['state.json', '{'],
  ])('%s of the run, changed or deleted (%j)', async (name, content) => {
    const path = join(folder, name);
    const whole = read(join(folder, 'metrics.json'));
    if (content === null) rmSync(path);
    else writeFileSync(path, content);
    await expectComputed();
    expect(read(join(folder, 'metrics.json'))).toBe(whole);
    expect((await start()).stderr).toMatch(SHOWN);
  });

  test('the code, by its version where its files are newer than the run', async () => {
    const path = join(folder, 'finished.json');
    const finished = { ...(readFinished(folder) as FinishedRecord), code: '0'.repeat(64) };
    writeFileSync(path, formatFinished(finished));
    expect((await start()).stderr).toMatch(SHOWN);
    writeFileSync(path, formatFinished({ ...finished, started: 1 }));
    await expectComputed();
  });
});

test('a run with a failed arm is computed again', async () => {
  const failing = ['--set', 'arms.hybrid.set={bm25: {k: 17, variant: bm25l, k1: 1.7e308}}'];
  const words = [...failing, '--set', 'evaluation.baseline=newest'];
  for (let round = 0; round < 2; round++) {
    const { code, stderr } = await start(...words);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^arms: 3 arms on \d+ queries, 1 failed/m);
  }
});
