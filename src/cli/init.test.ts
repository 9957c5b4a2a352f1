import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-init-'));
afterAll(() => rmSync(root, { recursive: true }));

const listFiles = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
const readData = (folder: string, name: string) => readFileSync(join(folder, 'data', name), 'utf8');

describe('a new folder', () => {
  const folder = join(root, 'new', 'my study');

  test('has a config, its schema and its data, and the next commands are printed', async () => {
    const { code, stdout, stderr } = await runRagpp('init', folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(listFiles(folder)).toEqual(
      ['config.schema.json', 'config.yaml', 'data', 'data/qrels.txt', 'data/queries.jsonl', 'data/turns.jsonl'].sort(),
    );
    expect(stdout).toContain(`\n  ragpp run '${folder}/config.yaml' --results '${folder}/results'\n`);
    expect(readFileSync(join(folder, 'config.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=config\.schema\.json\n/,
    );
    expect(JSON.parse(readFileSync(join(folder, 'config.schema.json'), 'utf8')).properties.arms).toBeDefined();
  });

  test('runs as it is, with bootstrap intervals, and gives a table', async () => {
    const results = join(root, 'results');
    const { code, stdout } = await runRagpp(
      ...['run', join(folder, 'config.yaml'), '--results', results, '--cache', join(root, 'cache')],
      ...['--set', 'evaluation.samples=499'],
    );
    expect(code).toBe(0);
    expect(stdout).toContain('bootstrap intervals (BCa)');
    const run = join(results, readdirSync(results)[0] as string);
    const { arms, failures, conversations } = JSON.parse(readFileSync(join(run, 'metrics.json'), 'utf8'));
    expect(failures).toEqual([]);
    expect(arms).toHaveLength(5);
    expect(conversations).toBeGreaterThanOrEqual(30);
    const table = await runRagpp('table', run, '--arms', 'words, fading,words', '--columns', 'mrr@10,p');
    expect(table.stdout).toMatch(/^\| arm +\| mrr@10 \| p +\|\n.*\n\| words, fading .* ▲ .*\n\| words \(baseline\)/);
  });
});

describe('the data', () => {
  test('is the same for the same seed, and another for another', async () => {
    const [one, same, other] = ['one', 'same', 'other'].map((name) => join(root, name)) as [string, string, string];
    await runRagpp('init', one, '--seed', '7');
    await runRagpp('init', same, '--seed', '7');
    await runRagpp('init', other, '--seed', '8');
    for (const name of ['turns.jsonl', 'queries.jsonl', 'qrels.txt']) {
      expect(readData(same, name)).toBe(readData(one, name));
      expect(readData(other, name)).not.toBe(readData(one, name));
    }
  });

  test('has replies, and a query in words of the turn that it looks for', async () => {
    const folder = join(root, 'words');
    await runRagpp('init', folder);
    const readLines = (name: string) => readData(folder, name).trim().split('\n');
    const turns = new Map(readLines('turns.jsonl').map((line) => [JSON.parse(line).id, JSON.parse(line)]));
    const queries = new Map(readLines('queries.jsonl').map((line) => [JSON.parse(line).id, JSON.parse(line)]));
    expect([...turns.values()].filter(({ parentId }) => parentId !== null).length).toBeGreaterThan(300);
    const pickWords = (text: string) => new Set(text.toLowerCase().match(/[a-z]{3,}/g));
    for (const line of readLines('qrels.txt')) {
      const [query, , turn] = line.split(' ');
      const found = pickWords(turns.get(turn).text);
      const shared = [...pickWords(queries.get(query).text)].filter((word) => word !== 'the' && found.has(word));
      expect(shared.length).toBeGreaterThanOrEqual(2);
    }
  });
});

describe('is refused', () => {
  test('a folder that is not empty, which stays as it was', async () => {
    const folder = join(root, 'full');
    mkdirSync(folder);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const { code, stderr } = await runRagpp('init', folder);
    expect(code).toBe(1);
    expect(stderr).toContain(`folder is not empty: ${folder} (holds notes.txt); name a new folder`);
    expect(listFiles(folder)).toEqual(['notes.txt']);
  });

  test('a file, and a seed that is none', async () => {
    const file = join(root, 'file');
    writeFileSync(file, 'mine');
    expect((await runRagpp('init', file)).stderr).toContain(
      `not a folder that can be read: ${file}; name a new folder`,
    );
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const { code, stderr } = await runRagpp('init', join(root, 'seedless'), '--seed', 'x');
    expect(code).toBe(2);
    expect(stderr).toContain('not a whole number; give a seed such as 1.');
  });

  test('but an empty folder is taken', async () => {
    const folder = join(root, 'empty');
    mkdirSync(folder);
    expect((await runRagpp('init', folder)).code).toBe(0);
    expect(listFiles(folder)).toContain('config.yaml');
  });
});
