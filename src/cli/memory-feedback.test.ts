import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-feedback-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);
const ragpp = (...words: string[]) => runRagpp('memory', ...words);

const TALK = [
  'The printer prints blank pages again.',
  'Ada ordered new toner for the printer.',
  'Lunch was lentil soup.',
];
const ASKED = ['--vector', '[1, 0]', '--k', '2'];

beforeAll(async () => {
  const rows = TALK.map((context, i) => ({
    id: `t${i}`,
    context,
    createdAt: i,
    embedding: [1, i],
    conversationId: 'c',
  }));
  writeFileSync(at('talk.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});

async function makeMemory(name: string): Promise<string> {
  await ragpp('import', at(name), at('talk.jsonl'));
  return at(name);
}

async function exportBytes(folder: string): Promise<string> {
  expect(await ragpp('export', folder, at('out.jsonl'))).toMatchObject({ code: 0 });
  return readFileSync(at('out.jsonl'), 'utf8');
}

test('a dry run writes nothing, and undoing a consolidation brings the memory back byte for byte', async () => {
  const folder = await makeMemory('consolidated');
  const before = await exportBytes(folder);
  const set = ['--set', 'minEpisodes=3', '--set', 'sentences=1'];
  const planned = await ragpp('consolidate', folder, '--dry-run', ...set);
  expect(planned.stdout).toMatch(/^changes that would be made: 1\n/);
  expect(await exportBytes(folder)).toBe(before);
  const { stdout } = await ragpp('consolidate', folder, ...set);
  expect(stdout).toMatch(
    /^changes: 1\nchange .*\nadded +summary:[0-9a-f]{16} +3 +- +Ada ordered new toner for the printer\.\n/,
  );
  expect(await exportBytes(folder)).toContain('"memoryType":"summary"');
  expect((await ragpp('consolidate', folder, '--undo')).stdout).toMatch(/^undone: 1 of 1 consolidations\n/);
  expect(await exportBytes(folder)).toBe(before);
});

test('queries are logged, their use is detected and counted, and what is retrieved often is listed', async () => {
  const folder = await makeMemory('logged');
  const first = await ragpp('query', folder, ...ASKED, '--format', 'json', '--log');
  expect([JSON.parse(first.stdout).candidates.length, first.stderr]).toEqual([2, 'event: 1\n']);
  expect((await ragpp('query', folder, '--id', 't0', '--k', '1', '--log')).stderr).toBe('event: 2\n');
  writeFileSync(at('answer.txt'), 'Ada has ordered toner already.');
  const question = ['--question', ASKED[1] as string, '--response', at('answer.txt')];
  const used = await ragpp('used', folder, '1', ...question);
  expect(used.stdout).toMatch(/t0 +no +0 +0 +-\nt1 +yes +3 +1 +ada order toner\nused: 1 of 2 records\n$/);
  expect(await exportBytes(folder)).toContain('"useCount":1');
  const { stdout } = await ragpp('patterns', folder);
  expect(stdout).toMatch(/\nt1 +2 +1 +\d{4}-.*\nqueries: 2, use known of 1; records: 1 of 3\n$/);
  const rare = ['--dry-run', '--set', 'minEpisodes=3', '--set', 'minRetrievals=3'];
  expect((await ragpp('consolidate', folder, ...rare)).stdout).toMatch(/: 0\n/);
  rare[4] = 'minRetrievals=2';
  expect((await ragpp('consolidate', folder, ...rare)).stdout).toMatch(/: 1\n/);
});

test('what cannot be is refused, and no log is made', async () => {
  const folder = await makeMemory('refused');
  writeFileSync(at('answer.txt'), 'x');
  const answer = ['--response', at('answer.txt')];
  for (const words of [
    ['patterns', folder],
    ['used', folder, '1', '--question', 'x', ...answer],
    ['consolidate', folder, '--set', 'minRetrievals=1'],
  ])
    expect((await ragpp(...words)).stderr).toContain('memory has no log of retrievals');
  expect((await ragpp('consolidate', folder, '--undo')).stderr).toContain('there is nothing to undo');
  expect((await ragpp('consolidate', folder, '--undo', '--dry-run')).code).toBe(2);
  expect((await ragpp('consolidate', folder, '--set', 'sentence=1')).stderr).toContain('did you mean sentences?');
  expect([existsSync(join(folder, 'retrievals')), existsSync(join(folder, 'consolidation'))]).toEqual([false, false]);
  await ragpp('query', folder, ...ASKED, '--log');
  expect((await ragpp('used', folder, '9', '--question', 'x', ...answer)).stderr).toContain('no such event: 9');
  const other = await ragpp('used', folder, '1', '--question', 'x', ...answer);
  expect(other.stderr).toContain('event 1 was another question; pass the text that was asked');
});
