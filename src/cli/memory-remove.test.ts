import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-remove-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);
const ragpp = (...words: string[]) => runRagpp('memory', ...words);

/** Not the cache of the project. */
const CACHE = ['--cache', at('cache')];
const CANARY = 'Geheimes Wörterbuch';
const SECRET = { conversationId: 'secret', author: 'ada', metadata: { userId: 'ada' } };
const ROWS = [
  { id: 'o1', context: 'The printer prints blank pages.', conversationId: 'open', outcome: 1 },
  { id: 'o2', context: 'Lunch was lentil soup.', conversationId: 'open' },
  { id: 's1', context: `The key is ${CANARY}.`, ...SECRET, outcome: 0 },
  { id: 's2', context: `Again, ${CANARY}.`, ...SECRET },
  { id: 's3', context: 'Both say so.', ...SECRET },
].map((row, i) => ({ ...row, createdAt: i, embedding: [1, i] }));

beforeAll(() => {
  writeFileSync(at('rows.jsonl'), ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(at('qrels.txt'), 'q1 0 s1 1\nq2 0 s1 1\nq2 0 o1 1\nq3 0 o2 1\n');
});

async function makeMemory(name: string): Promise<string> {
  await ragpp('import', at(name), at('rows.jsonl'));
  await ragpp('consolidate', at(name), '--set', 'minEpisodes=3', '--set', 'sentences=2');
  await ragpp('query', at(name), '--id', 'o1', '--log');
  return at(name);
}

test('a dry run lists what would go, the removal takes it, and no file has it then', async () => {
  const folder = await makeMemory('notes');
  const found = await ragpp('prove-forgotten', folder, CANARY);
  expect(found.code).toBe(1);
  for (const part of ['journal', 'consolidation'])
    expect(found.stdout).toMatch(new RegExp(`^found: ${folder}.*${part}.* at byte \\d+ \\(UTF-8\\)$`, 'm'));
  const words = ['remove', folder, '--conversation', 'secret', '--qrels', at('qrels.txt'), ...CACHE];
  const dry = await ragpp(...words, '--dry-run');
  expect(dry).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: (?:magnitude|information)/) });
  expect(dry.stdout).toMatch(
    /^would be removed: 4 records, and 0 made of them\nrecord +reason\ns1 +selected\ns2 +selected\ns3 +selected\nsummary:[0-9a-f]{16} +selected\n/,
  );
  expect((await ragpp('prove-forgotten', folder, CANARY)).stdout).toBe(found.stdout);
  const { code, stdout } = await ragpp(...words);
  const [first, ...others] = stdout.split('\n');
  expect([code, first]).toEqual([0, 'removed: 4 records, and 0 made of them']);
  expect(others.filter((line) => !/^(?:conservation|before|after)/.test(line))).toEqual([
    'outcomes of these records: 1',
    'entries of logs: consolidation 1, retrievals 1',
    'judgements: 2 of 4 relevant records removed',
    'queries: 1 of 3 have fewer relevant records, 1 have none left: q1',
    `${folder}: 2 records`,
    '',
  ]);
  expect(others[2]).toMatch(/^conservation +records +magnitude +energy +information \(nats\)$/);
  expect([others[3], others[4]]).toEqual([expect.stringMatching(/^before +6 /), expect.stringMatching(/^after +2 /)]);
  const proof = await ragpp('prove-forgotten', folder, CANARY);
  expect(proof).toMatchObject({ code: 0, stderr: '' });
  expect(proof.stdout).toMatch(/^scanned: \d+ files, \d+ bytes; found: 0, not read: 0\n$/);
  expect((await ragpp('query', folder, '--id', 'o1', '--format', 'json')).code).toBe(0);
});

test('records of a person and of a filter are removed; one criterion is needed', async () => {
  const folder = await makeMemory('people');
  for (const wrong of [[], ['--user', 'ada', '--filter', 'importance > 0']])
    expect((await ragpp('remove', folder, ...CACHE, ...wrong)).code).toBe(2);
  expect((await ragpp('remove', folder, ...CACHE, '--filter', 'colour = 1')).stderr).toMatch(/colour/);
  expect((await ragpp('remove', folder, ...CACHE, '--user', 'nobody')).stdout).toMatch(
    /^removed: 0 records, and 0 made of them\n/,
  );
  expect((await ragpp('remove', folder, ...CACHE, '--user', 'ada')).stdout).toContain(`${folder}: 2 records\n`);
  expect((await ragpp('remove', folder, ...CACHE, '--filter', "id = 'o2'")).stdout).toContain(`${folder}: 1 records\n`);
  expect((await ragpp('prove-forgotten', folder, 'lentil')).code).toBe(0);
});

test('the cache loses the vectors of removed texts', async () => {
  const turns = ROWS.map(({ embedding: _, ...row }) => `${JSON.stringify(row)}\n`);
  writeFileSync(at('turns.jsonl'), turns.join(''));
  await ragpp('import', at('embedded'), at('turns.jsonl'), '--encoder', 'use-lite', ...CACHE);
  const line = 'vectors in the cache: 3 of texts, 0 of tokens of texts\n';
  const words = ['remove', at('embedded'), '--conversation', 'secret', ...CACHE];
  expect((await ragpp(...words, '--dry-run')).stdout).toContain(line);
  expect(await ragpp(...words)).toMatchObject({ code: 0, stdout: expect.stringContaining(line) });
  const again = await ragpp('import', at('again'), at('turns.jsonl'), '--encoder', 'use-lite', ...CACHE);
  expect(again.stderr).toContain('3 texts embedded');
});

test('a folder that is missing cannot be proven', async () => {
  const { code, stderr } = await ragpp('prove-forgotten', at('missing'), 'x');
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${at('missing')}; check that the path exists`)]);
});
