import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { type FinishedRecord, findRepeatedRun, formatFinished, readFinished } from '../lab/stored/finished-record.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-repeated-'));
afterAll(() => rmSync(root, { recursive: true }));
const [data, results, inner] = [join(root, 'data'), join(root, 'results'), join(root, 'configs/inner')];
const [config, base] = [join(inner, 'sample.yaml'), join(root, 'configs/base.yaml')];
const group = join(root, 'configs/groups/evaluation/quick.yaml');

const listWords = (...more: string[]) => ['run', config, '--cache', join(root, 'cache'), '--results', results, ...more];

const SHOWN = /^shown from the run of /m;
const now = Date.now;
afterEach(() => vi.restoreAllMocks());

/** Works with files that seem to have been written some time ago. */
async function later<T>(work: () => Promise<T>): Promise<T> {
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 5000);
  const result = await work();
  clock.mockRestore();
  return result;
}

const start = (...more: string[]) => later(() => runRagpp(...listWords(...more)));

/** Computes the run again, as by a first command. */
async function computeAgain(): Promise<void> {
  rmSync(folder, { recursive: true });
  expect((await start()).stderr).not.toMatch(SHOWN);
  expect((await findAgain())?.folder).toBe(folder);
}

const findAgain = (...more: string[]) => later(() => findRepeatedRun(listWords(...more)));
const findFolder = (name: string) => join(results, readdirSync(results).find((one) => one.startsWith(name)) as string);
const write = (path: string, content: object) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
};

const { arms, evaluation, ...rest } = buildSampleConfig('../data') as {
  arms: Record<string, unknown>;
  evaluation: object;
};

let first: Awaited<ReturnType<typeof start>>;
let folder: string;
beforeAll(async () => {
  mkdirSync(data);
  writeSampleJsonl(data);
  write(base, { ...rest, arms: { newest: arms.newest, hybrid: arms.hybrid } });
  write(group, { evaluation });
  write(config, { extends: '../base.yaml', groups: { evaluation: 'quick' }, seed: 5 });
  first = await start();
  expect(first.code, first.stderr).toBe(0);
  folder = findFolder('sample-');
});

test('the same command is answered from the folder of its run, as another command of the same run is', async () => {
  expect((await findAgain())?.folder).toBe(folder);
  const again = await start();
  expect(again.stdout).toBe(first.stdout);
  expect(await findAgain('--workers', '1')).toBeNull();
  const other = await start('--workers', '1');
  expect(again.stderr).toMatch(/^shown from the run of .*\n$/);
  expect(other).toEqual({ ...again, stderr: expect.stringMatching(/^bytes of turns/) });
  expect(other.stderr.endsWith(again.stderr)).toBe(true);
});

test('nothing is found where no run is', async () => {
  expect(await findRepeatedRun(['run', config, '--results', join(root, 'none')])).toBeNull();
  expect(await findRepeatedRun(['run', config, '--results'])).toBeNull();
  expect(await findRepeatedRun(['run', config, '--results', config])).toBeNull();
});

test('a run that an option has computed again is found by its config alone', async () => {
  for (const word of ['--again', '--resume', '--retry-failed', '--profile']) {
    expect((await start(word)).stderr).not.toMatch(SHOWN);
    expect(readFinished(folder)?.repetition).toBeNull();
    expect(await findAgain(word)).toBeNull();
    expect((await start()).stderr, word).toMatch(SHOWN);
  }
  await computeAgain();
});

describe('not found after a change of', () => {
  /** Changes a file and puts its times back; the returned function undoes it but for the file's own state. */
  function change(path: string, content: string | null): () => void {
    const copy = join(root, 'kept');
    const isThere = existsSync(path);
    if (isThere) copyFileSync(path, copy);
    const { atime, mtime } = isThere ? statSync(path) : { atime: new Date(), mtime: new Date() };
    if (content === null) rmSync(path);
    else writeFileSync(path, content);
    if (content !== null) utimesSync(path, atime, mtime);
    return () => (isThere ? copyFileSync(copy, path) : rmSync(path));
  }
  const read = (path: string) => readFileSync(path, 'utf8');

  test.each([
    ['the config', config, '"seed":5', '"seed":6'],
    ['a file that it extends', base, '"dimension":13', '"dimension":11'],
    ['the file of a group', group, '"samples":499', '"samples":491'],
    ['a turn of the data', join(data, 'turns.jsonl'), 'we ', 'wo '],
    ['a judgement', join(data, 'qrels.txt'), 't3-2 1', 't3-1 1'],
  ])('%s', async (_, path, from, to) => {
    expect(await findAgain()).not.toBeNull();
    const edited = read(path).replace(from, to);
    expect(edited).not.toBe(read(path));
    const undo = change(path, edited);
    expect(await findAgain()).toBeNull();
    const { stderr } = await start();
    expect(stderr).not.toMatch(SHOWN);
    undo();
    expect((await start()).stderr, 'by the contents').toMatch(SHOWN);
    await computeAgain();
  });

  test('the group that is nearest', async () => {
    const nearer = join(inner, 'groups/evaluation/quick.yaml');
    mkdirSync(dirname(nearer), { recursive: true });
    const undo = change(nearer, JSON.stringify({ evaluation: { ...evaluation, samples: 487 } }));
    expect(await findAgain()).toBeNull();
    expect((await start()).stderr).not.toMatch(SHOWN);
    undo();
    expect(await findAgain()).not.toBeNull();
  });

  test('the folder of the data, though its files say the same', async () => {
    const moved = join(root, 'data.moved');
    cpSync(data, moved, { recursive: true });
    renameSync(data, join(root, 'data.old'));
    renameSync(moved, data);
    expect(await findAgain()).toBeNull();
    expect((await start()).stderr, 'by the contents').toMatch(SHOWN);
    rmSync(data, { recursive: true });
    renameSync(join(root, 'data.old'), data);
    expect(await findAgain()).not.toBeNull();
  });

  test('the files of the data', async () => {
    const undo = change(join(data, 'superseded.tsv'), 't3-0\tt3-1\n');
    expect(await findAgain()).toBeNull();
    undo();
    expect(await findAgain()).not.toBeNull();
    symlinkSync(config, join(data, 'link'));
    expect(await findAgain()).toBeNull();
    rmSync(join(data, 'link'));
  });

  test.each([
    ['--set', 'seed=7'],
    ['--backend', 'cpu'],
    ['--limit-queries', '7'],
  ])('the words: %s %s', async (...words) => {
    expect(await findAgain(...words)).toBeNull();
  });

  test.each([
    ['report.html', ''],
    ['metrics.json', '{}\n'],
    ['runs/hybrid.trec', null],
    ['state.json', '{'],
    ['arms/hybrid.safetensors', null],
    ['finished.json', '{"shown":'],
    ['finished.json', null],
  ])('%s of the run (%j)', async (name, content) => {
    const path = join(folder, name);
    change(path, content);
    expect(await findAgain()).toBeNull();
    expect((await start()).stderr).not.toMatch(SHOWN);
    expect(await findAgain()).not.toBeNull();
  });

  test('the name of its folder', async () => {
    renameSync(folder, `${folder}.replaced`);
    expect(await findAgain()).toBeNull();
    renameSync(`${folder}.replaced`, folder);
    expect(await findAgain()).not.toBeNull();
  });

  test('the version of Node, the folder of models, the time zone', async () => {
    for (const [name, value] of [
      ['RAGPP_CACHE', root],
      ['TZ', 'Asia/Tokyo'],
    ] as const) {
      vi.stubEnv(name, value);
      expect(await findAgain(), name).toBeNull();
      vi.unstubAllEnvs();
    }
    vi.spyOn(process, 'version', 'get').mockReturnValue('v99.0.0');
    expect(await findAgain()).toBeNull();
    vi.restoreAllMocks();
    vi.spyOn(process, 'cwd').mockReturnValue(root);
    expect(await findAgain()).toBeNull();
    vi.restoreAllMocks();
    expect(await findAgain()).not.toBeNull();
  });

  test.each<[string, (record: FinishedRecord) => Partial<FinishedRecord>]>([
    ['the installed packages', () => ({ started: 1 })],
    ['the backend', ({ repetition }) => ({ repetition: repetition && { ...repetition, backend: 'cpu' } })],
  ])('%s', async (_, edit) => {
    const record = readFinished(folder) as FinishedRecord;
    writeFileSync(join(folder, 'finished.json'), formatFinished({ ...record, ...edit(record) }));
    expect(await findAgain()).toBeNull();
    writeFileSync(join(folder, 'finished.json'), formatFinished(record));
    expect(await findAgain()).not.toBeNull();
  });
});

describe('found by its config alone:', () => {
  const readRepetition = (name: string) => readFinished(findFolder(name))?.repetition;
  const plugin = join(inner, 'plugin.mjs');

  test.each<[string, object, () => void]>([
    [
      'a run with an arm from a file',
      { arms: { theirs: [{ search: { run: { path: 'theirs.trec', k: 5 } } }] } },
      () => writeFileSync(join(inner, 'theirs.trec'), 'q20-0 Q0 t3-0 1 2.5 x\n'),
    ],
    [
      'one with a plugin',
      { plugins: ['plugin.mjs'] },
      () => writeFileSync(plugin, "export default { name: 'nothing', version: '1' };\n"),
    ],
    ['one whose config was written just now', { seed: 11 }, () => {}],
    ['one whose data has a link', { seed: 13 }, () => symlinkSync(config, join(data, 'link'))],
    [
      'one with a warning about its config',
      {
        evaluation: { metrics: ['mrr@10'] },
        arms: {
          rrf: [{ search: { bm25: { k: 90 }, hnsw: { k: 90 }, newest: { k: 90 } } }, { fuse: { rrf: { k: 60 } } }],
        },
      },
      () => {},
    ],
  ])('%s', async (name, changes, prepare) => {
    const own = `own${name.length}`;
    write(join(inner, `${own}.yaml`), { extends: 'sample.yaml', name: own, ...changes });
    prepare();
    const words = ['run', join(inner, `${own}.yaml`), '--cache', join(root, 'cache'), '--results', results];
    if (!name.includes('just now')) vi.spyOn(Date, 'now').mockImplementation(() => now() + 5000);
    const { code, stderr } = await runRagpp(...words);
    expect(code, stderr).toBe(0);
    if (name.includes('warning')) expect(stderr).toContain('warning');
    expect(readRepetition(own)).toBeNull();
    expect(await findRepeatedRun(words)).toBeNull();
    expect((await runRagpp(...words)).stderr).toMatch(SHOWN);
    rmSync(join(data, 'link'), { force: true });
  });

  test('one of several datasets', async () => {
    const several = {
      extends: 'sample.yaml',
      name: 'several',
      datasets: { one: { name: 'jsonl', path: '../../data' } },
    };
    write(join(inner, 'several.yaml'), several);
    const words = ['run', join(inner, 'several.yaml'), '--cache', join(root, 'cache'), '--results', results];
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 5000);
    for (let round = 0; round < 2; round++) {
      const { code, stderr } = await runRagpp(...words);
      expect(code, stderr).toBe(0);
      expect(stderr).not.toMatch(SHOWN);
    }
    const chosen = [...words, '--dataset', 'one'];
    expect((await runRagpp(...chosen)).stderr).toMatch(SHOWN);
    expect(await findRepeatedRun(words)).toBeNull();
  });
});
