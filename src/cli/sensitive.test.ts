import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EmbeddingService } from '../embedding/endpoint/embedding-service.harness.ts';
import { runRagpp } from './command.harness.ts';

const SECRET = 'xq4711zw';
const REFUSED = /encoder openai-compatible sends texts off this machine, and 1 of \d+ are sensitive/;
const root = mkdtempSync(join(tmpdir(), 'ragpp-sensitive-'));
const at = (name: string) => join(root, name);
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));

const encoder = () => ({ encoder: 'openai-compatible', baseUrl: service.baseUrl, model: 'm', dimension: 5 });
const writeLines = (path: string, rows: readonly object[]) =>
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Files of a folder that hold the secret. */
const listLeaks = (folder: string) =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path, 'latin1').includes(SECRET));

/** Conversations with a sensitive turn, and a query for it whose words are others. */
function writeDataset(): string {
  const folder = at('data');
  mkdirSync(folder);
  const turns = Array.from({ length: 12 }, (_, i) => ({
    ...{ id: `t${i}`, conversationId: `c${i >> 2}`, parentId: i % 4 === 0 ? null : `t${i - 1}`, timestamp: 1000 * i },
    text: i === 5 ? `the safe opens with ${SECRET}` : `the safe of floor ${i} opens late`,
    ...(i === 5 ? { attributes: { sensitive: true } } : {}),
  }));
  writeLines(join(folder, 'turns.jsonl'), turns);
  const texts = ['how does the safe open', 'which floor has the safe'];
  writeLines(
    join(folder, 'queries.jsonl'),
    texts.map((text, i) => ({ id: `q${i}`, text, timestamp: 99_000, cluster: `${i}` })),
  );
  writeFileSync(join(folder, 'qrels.txt'), 'q0 0 t5 1\nq1 0 t6 1\n');
  return folder;
}

test('a run with a service sends and writes no sensitive text; one on this machine reads it and shows none', async () => {
  const config = {
    ...{ name: 'sample', seed: 3, backend: 'wasm', dataset: { name: 'jsonl', path: writeDataset() } },
    embedding: encoder(),
    evaluation: { split: 'all', baseline: 'cosine', samples: 100, metrics: ['mrr@10'] },
    arms: [{ name: 'cosine', candidates: [{ index: 'flat', k: 5 }], relevance: { signals: ['cosine'] } }],
  };
  writeFileSync(at('sample.yaml'), JSON.stringify(config));
  const run = (...words: string[]) =>
    runRagpp('run', at('sample.yaml'), '--cache', at('cache'), '--results', at('results'), ...words);
  const refused = await run();
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(REFUSED);
  expect(service.received).toEqual([]);
  expect([listLeaks(at('results')), listLeaks(at('cache'))]).toEqual([[], []]);
  const local = await run('--set', 'embedding={encoder: lsa, dimension: 2, maxDocumentShare: 1}');
  expect([local.code, local.stderr]).toEqual([0, expect.stringContaining('embeddings of lsa')]);
  expect(listLeaks(at('results'))).toEqual([]);
  expect(JSON.stringify([refused, local])).not.toContain(SECRET);
  expect(listLeaks(at('data'))).toEqual([join(at('data'), 'turns.jsonl')]);
});

test('neither an import nor a question with --sensitive sends its text to a service', async () => {
  const rows = ['a', 'b'].map((id) => ({ id, context: `the safe ${id}`, createdAt: 1 }));
  const secret = { id: 'c', context: SECRET, createdAt: 2, metadata: { sensitive: true } };
  writeLines(at('plain.jsonl'), rows);
  writeLines(at('all.jsonl'), [...rows, secret]);
  const ragpp = (...words: string[]) => runRagpp('memory', ...words, '--cache', at('memory-cache'));
  const memory = at('memory');
  const importFile = (name: string) =>
    ragpp('import', memory, at(name), '--set', `encoder=${JSON.stringify(encoder())}`);
  const refused = await importFile('all.jsonl');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(REFUSED)]);
  expect([existsSync(memory), service.received]).toEqual([false, []]);
  expect((await importFile('plain.jsonl')).code).toBe(0);
  const sent = service.received.length;
  const ask = (...words: string[]) => ragpp('query', memory, ...words);
  const unasked = await ask('--text', SECRET, '--sensitive');
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringMatching(REFUSED)]);
  expect((await ask('--vector', '[1, 0, 0, 0, 0]', '--sensitive')).code).toBe(2);
  expect(service.received).toHaveLength(sent);
  expect(JSON.stringify([refused, unasked])).not.toContain(SECRET);
  expect([listLeaks(memory), listLeaks(at('memory-cache'))]).toEqual([[], []]);
  expect((await ask('--text', 'the safe')).stdout).toContain('the safe a');
  expect(service.received).toHaveLength(sent + 1);
});
