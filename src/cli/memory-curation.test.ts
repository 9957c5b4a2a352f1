import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type Answer, EmbeddingService } from '../core/service/embedding-service.harness.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-curation-'));
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);
const ragpp = (...words: string[]) => runRagpp('memory', ...words);

/** What is not about Ada; the two have the cosine .8. */
const VECTORS: Readonly<Record<string, readonly number[]>> = { b: [0, -1], d: [0.6, -0.8] };

function write(name: string, texts: Readonly<Record<string, string>>): string {
  const rows = Object.entries(texts).map(([id, context], i) => ({
    ...{ id, context, createdAt: i },
    embedding: VECTORS[id] ?? [1, 0],
  }));
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return at(name);
}

const first = write('first.jsonl', { a: 'Ada lives in London', b: 'The deploy takes 7 minutes' });
const second = write('second.jsonl', {
  c: 'ada lives in london',
  d: 'The deploy takes 9 minutes',
  e: 'Ada lives in London near the river',
});

async function exportBytes(folder: string): Promise<string> {
  expect(await ragpp('export', folder, at('out.jsonl'))).toMatchObject({ code: 0 });
  return readFileSync(at('out.jsonl'), 'utf8');
}

/** The cells of a printed table, without its heading. */
const readRows = (stdout: string) =>
  stdout.split('\n').flatMap((line) => (/ (?:add|noop|update|delete) /.test(line) ? [line.split(/ {2,}/)] : []));

test('records of a file are curated, and undoing all brings the memory back byte for byte', async () => {
  const folder = at('memory');
  await ragpp('import', folder, first);
  const before = await exportBytes(folder);
  const curated = await ragpp('curate', folder, second);
  expect(curated.code).toBe(0);
  expect(curated.stdout).toMatch(new RegExp(`\n${folder}: 3 records\n$`));
  expect(readRows(curated.stdout)).toEqual([
    ['c', 'noop', 'a', '1', 'same words'],
    ['d', 'delete', 'b', '0.8', 'other value'],
    ['e', 'update', 'a', '1', 'more words'],
  ]);
  const after = await exportBytes(folder);
  expect(after).toContain('"status":"superseded"');
  const last = await ragpp('undo', folder);
  expect(last.stdout).toMatch(/^undone: 1 of 3 decisions\n/);
  expect(readRows(last.stdout).map(([id]) => id)).toEqual(['e']);
  expect(await exportBytes(folder)).not.toBe(before);
  expect((await ragpp('undo', folder, '--all')).stdout).toMatch(/^undone: 2 of 2 decisions\n/);
  expect(await exportBytes(folder)).toBe(before);
  expect((await ragpp('undo', folder, '--count', '3')).stdout).toBe(`undone: 0 of 0 decisions\n${folder}: 2 records\n`);
});

test('the cosines of the rules are options; a record that is there and a bad row are refused before any decision', async () => {
  const folder = at('options');
  await ragpp('import', folder, first);
  const before = await exportBytes(folder);
  const refused = await ragpp('curate', folder, first, second);
  expect(refused.stderr).toContain(`${first}:1: duplicate id: a is in the memory; remove the row`);
  expect((await ragpp('curate', folder, second, '--set', 'neighbour=1')).stderr).toContain('neighbour');
  expect(await exportBytes(folder)).toBe(before);
  const strict = ['--on-dirty-row', 'skip', '--set', 'rules.contradictAbove=0.9'];
  const skipped = await ragpp('curate', folder, first, second, ...strict);
  expect(skipped.stdout).toContain('duplicate id: 2\n');
  expect(readRows(skipped.stdout).map(([id, operation]) => `${id} ${operation}`)).toEqual([
    'c noop',
    'd add',
    'e update',
  ]);
});

test('a folder without a memory or without a log is refused, and none is made', async () => {
  expect((await ragpp('curate', at('none'), first)).stderr).toContain('folder has no memory');
  await ragpp('import', at('plain'), first);
  expect((await ragpp('undo', at('plain'))).stderr).toContain(
    `memory has no log of curation: ${at('plain')}; curate records with 'ragpp memory curate ${at('plain')} FILE' first`,
  );
  expect([existsSync(at('none')), existsSync(join(at('plain'), 'curation'))]).toEqual([false, false]);
  expect((await ragpp('undo', at('plain'), '--all', '--count', '2')).code).toBe(2);
});

const say = (content: string): Answer => ({
  status: 200,
  body: { choices: [{ message: { content } }], usage: { total_tokens: 7 } },
});
const byService = (...words: string[]) => ['--decider', 'endpoint', '--model', 'm', ...words];

test('a service decides about the records of a file, with a key, and no sensitive text is sent or logged', async () => {
  const folder = at('endpoint');
  await ragpp('import', folder, first);
  const before = await exportBytes(folder);
  const rows = [
    { id: 'f', context: 'xq-4711', createdAt: 3, embedding: [1, 0], metadata: { sensitive: true } },
    { id: 'g', context: 'Ada lives in Paris', createdAt: 4, embedding: [1, 0] },
  ];
  writeFileSync(at('day.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  service.answer = () => say('{"operation": "delete", "number": 1, "reason": "Ada moved"}');
  vi.stubEnv('RAGPP_TEST_KEY', 'key-7');
  const key = ['--base-url', service.baseUrl, '--api-key-variable', 'RAGPP_TEST_KEY'];
  const { code, stdout, stderr } = await ragpp('curate', folder, at('day.jsonl'), ...byService(...key));
  vi.unstubAllEnvs();
  expect([code, stdout.split('\n')[0]]).toEqual([0, '1 requests, 7 tokens']);
  expect(readRows(stdout)).toEqual([
    ['f', 'add', '-', '-', 'sensitive'],
    ['g', 'delete', 'a', '1', 'Ada moved'],
  ]);
  expect(service.received.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/v1/chat/completions', 'Bearer key-7'],
  ]);
  const log = readFileSync(join(folder, 'curation', readdirSync(join(folder, 'curation'))[0] as string), 'utf8');
  expect(log).toContain('Ada moved');
  expect(JSON.stringify(service.received) + stdout + stderr + log).not.toContain('4711');
  expect((await ragpp('undo', folder, '--all')).stdout).toMatch(/^undone: 2 of 2 decisions\n/);
  expect(await exportBytes(folder)).toBe(before);
});

test('a service that fails leaves the memory as it was; flags that do not fit each other are refused', async () => {
  const folder = at('failing');
  await ragpp('import', folder, first);
  const before = await exportBytes(folder);
  const curate = (...words: string[]) => ragpp('curate', folder, second, ...words);
  service.answer = () => ({ status: 503, body: 'busy' });
  const quick = ['--set', 'endpoint.maxAttempts=2', '--set', 'endpoint.pauseSeconds=0'];
  const failed = await curate(...byService('--base-url', service.baseUrl, ...quick));
  expect([failed.code, service.received.length]).toEqual([1, 2]);
  expect(failed.stderr).toMatch(/curation by m .*status 503: an answer of 4 characters, after 2 attempts/);
  const url = ['--base-url', service.baseUrl];
  for (const [words, said] of [
    [byService(), '--decider endpoint needs --model and --base-url'],
    [['--model', 'm'], '--model, --base-url and --api-key-variable need --decider endpoint'],
    [byService(...url, '--set', 'rules.updateAbove=0.9'), 'leave out --set rules'],
    [byService(...url, '--set', 'endpoint.attempts=2'), 'did you mean maxAttempts?'],
    [byService(...url, '--api-key-variable', 'RAGPP_NO_KEY'), 'the environment variable RAGPP_NO_KEY is not set'],
    [byService('--base-url', 'nowhere'), 'baseUrl: expected an address of http or https'],
  ] as const) {
    expect((await curate(...words)).stderr).toContain(said);
  }
  expect(service.received).toHaveLength(2);
  expect(await exportBytes(folder)).toBe(before);
});
