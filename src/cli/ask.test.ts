import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requirePackages } from '../core/required-packages.harness.ts';
import type { AskedContext } from '../lab/run/ask.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { openFactStore } from '../memory/facts/fact-store.ts';
import { SHOP_DOMAIN, writeShopDatabase } from '../rank/query/domain/shop.fixture.ts';
import { runRagpp } from './command.harness.ts';

const duckDb = requirePackages('DuckDB');
const root = mkdtempSync(join(tmpdir(), 'ragpp-ask-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = join(root, 'sample.yaml');

beforeAll(() => {
  writeSampleJsonl(root);
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
});

const ask = (question: string, ...flags: string[]) =>
  runRagpp('ask', config, question, '--cache', join(root, 'cache'), '--backend', 'wasm', ...flags);

async function askForJson(question: string, ...flags: string[]): Promise<AskedContext> {
  const { code, stdout, stderr } = await ask(question, '--arm', 'hybrid', '--json', ...flags);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as AskedContext;
}

describe('a question', () => {
  test('has a prompt within the budget, and the ranking with the parts of each score', async () => {
    const { prompt, ranking, tokens, budget } = await askForJson('soup with garlic and lentils', '--budget', '120');
    expect(prompt).toContain('relevant to the query: "soup with garlic and lentils"');
    expect(prompt).toMatch(/^- .*(soup|garlic|lentils)/m);
    expect([tokens <= budget, budget]).toEqual([true, 120]);
    const packed = ranking.filter((reason) => reason.packed);
    expect(packed.reduce((sum, reason) => sum + reason.tokens, 0)).toBe(tokens);
    expect(prompt.match(/^- /gm)).toHaveLength(packed.length);
    expect(ranking.map(({ rank }) => rank)).toEqual(ranking.map((_, i) => i + 1));
    expect(ranking.map(({ score }) => score)).toEqual(ranking.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(Object.keys(ranking[0]?.parts ?? {})).toEqual(expect.arrayContaining(['bm25', 'hnsw', 'relevance']));
  });

  test('is answered by the same bytes again, and by others for another question', async () => {
    const once = await askForJson('boot panic of the kernel');
    expect(await askForJson('boot panic of the kernel')).toEqual(once);
    expect((await askForJson('interest of the loan')).ranking[0]?.id).not.toBe(once.ranking[0]?.id);
  });

  test('of a moment sees earlier turns alone, and of a conversation its turns alone', async () => {
    const early = await askForJson('the train', '--as-of', '2024-05-04T00:00Z');
    expect(early.asOf).toBe(Date.UTC(2024, 4, 4));
    const threads = (asked: AskedContext) => new Set(asked.ranking.map(({ id }) => Number(/^t(\d+)-/.exec(id)?.[1])));
    // A thread begins every 29 hours.
    expect(Math.max(...threads(early))).toBeLessThanOrEqual(2);
    expect([...threads(await askForJson('the train', '--conversation', 'c5'))]).toEqual([5]);
  });

  test('with a vector of its own is ranked by it', async () => {
    const flags = (sign: number) => ['--vector', JSON.stringify(Array.from({ length: 13 }, (_, i) => sign * (i + 1)))];
    const cosines = async (sign: number) =>
      Object.fromEntries(
        (await askForJson('the train', ...flags(sign))).ranking.map(({ id, parts }) => [id, parts.hnsw]),
      );
    const [found, opposite] = [await cosines(1), await cosines(-1)];
    const shared = Object.keys(found).filter((id) => id in opposite);
    expect(shared.length).toBeGreaterThan(3);
    for (const id of shared) expect(opposite[id]).toBe(-(found[id] as number));
  });

  test('in text shows the prompt, then what is in it', async () => {
    const { stdout } = await ask('orchid light', '--arm', 'newest', '--packing', 'knapsack', '--tokens', 'words');
    expect(stdout).toMatch(/^# Retrieved Context\n/);
    expect(stdout).toMatch(/of 2000 tokens; \[x\] is in the prompt\n {3}1\. \[x\]/);
  });

  test('is understood, and shares its budget', async () => {
    const { stdout } = await ask(
      'How do I tune the bow of Bob?',
      '--arm',
      'newest',
      '--strategy',
      'rag',
      '--weights',
      '.5,.5',
    );
    expect(stdout).toContain(`category: procedural (how)
flags: entityFocused; procedural
time: none
entities: none
ambiguous: none
unknown names: Bob
strategy: procedural, since the question is procedural
budget: hybrid: memories 1 (19 found)
`);
  });
});

duckDb.test('facts and records of a database are in the prompt beside the turns of the arm', async () => {
  const file = join(root, 'shop.duckdb');
  await writeShopDatabase(file);
  writeFileSync(join(root, 'domain.yaml'), JSON.stringify(SHOP_DOMAIN));
  const folder = join(root, 'facts');
  const facts = await openFactStore(folder);
  await facts.assert({ id: 'f1', source: 'Kai', relation: 'likes', target: 'garlic', validFrom: 0 }, 1);
  await facts.close();
  const domain = ['--domain', join(root, 'domain.yaml'), '--database', file];
  const flags = ['--facts', folder, ...domain, '--as-of', '2024-05-15T00:00Z', '--budget', '60'];
  const question = 'What did Kai order last month with garlic?';
  const alone = await askForJson(question, '--as-of', '2024-05-15T00:00Z', '--budget', '60');
  for (const strategy of ['ranking', 'hybrid']) {
    const { beside, prompt, tokens, ranking } = await askForJson(question, ...flags, '--strategy', strategy, '--cite');
    expect(beside.map(({ id, packed }) => [id, packed])).toEqual([
      ['database:orders:customer:1:0', true],
      ['fact:f1', true],
    ]);
    expect(prompt).toContain('- [database:orders:customer:1:0] order 17 of 2024-04-03: 120.5 (database:orders)\n');
    expect(prompt).toMatch(
      /- \[fact:f1\] Kai likes garlic, since 1970-01-01 \(facts, .*; names Kai, garlic; recorded 1970-01-01\)\n/,
    );
    expect(tokens).toBeLessThanOrEqual(60);
    expect(ranking.map(({ id, score }) => [id, score])).toEqual(alone.ranking.map(({ id, score }) => [id, score]));
  }
  const inSession = await askForJson(question, ...flags, '--session', 'c0');
  expect(inSession.beside.map(({ id }) => id)).toEqual(['database:orders:customer:1:0']);
});

test.each([
  [['x', '--arm', 'hybird'], 1, 'config has no arm: hybird; use hybrid'],
  [['x', '--arm', 'hybrid', '--budget', 'many'], 2, 'a whole number of tokens'],
  [['x', '--arm', 'hybrid', '--weights', '.3,many'], 2, 'not two numbers parted by a comma'],
  [['x', '--arm', 'hybrid', '--weights', 'equal'], 2, 'weights'],
  [[' ', '--arm', 'hybrid'], 2, 'a question with at least one letter'],
  [['x', '--arm', 'hybrid', '--as-of', 'soon'], 1, '--as-of is no time: soon; write for example'],
  [['x', '--arm', 'hybrid', '--conversation', 'c99'], 1, 'corpus has no conversation: c99'],
  [['x', '--arm', 'hybrid', '--database', 'shop.duckdb'], 1, 'need each other'],
  [['x', '--arm', 'hybrid', '--vector', 'none.npy'], 1, '--vector is neither a JSON list nor a file: none.npy'],
  [['x', '--arm', 'hybrid', '--vector', '[1, 2]'], 1, 'expected 13, got 2; use the model that embedded the turns'],
])('%j is refused', async ([question, ...flags], code, message) => {
  const outcome = await ask(question as string, ...flags);
  expect(outcome.stderr).toContain(message);
  expect([outcome.code, outcome.stdout]).toEqual([code, '']);
});
