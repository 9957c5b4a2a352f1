import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SensitiveTextError } from '../../core/errors/errors.ts';
import { EmbeddingService } from '../../core/service/embedding-service.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import { MEMORY_SIGNALS } from '../../rank/signals/memory-signals.ts';
import type { Plain } from '../composition/config-file.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { askArm, type QuestionInput } from './ask.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';

const service = EmbeddingService.useInTests();
const root = mkdtempSync(join(tmpdir(), 'ragpp-ask-arm-'));
let config: ExperimentConfig;

/** Every fifth conversation is a document, and Anna wrote the others. */
function addDocuments(file: string): void {
  const rows = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { conversationId: string });
  const changed = rows.map((row) =>
    Number(row.conversationId.slice(1)) % 5 === 0
      ? { ...row, attributes: { source: 'documents' } }
      : { ...row, author: 'Anna Davis' },
  );
  writeFileSync(file, changed.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
  addDocuments(join(root, 'turns.jsonl'));
  config = resolveConfig(buildSampleConfig(root) as Plain, 'sample');
});
afterAll(() => rmSync(root, { recursive: true }));

test('an arm is asked without a folder, and no tensor is left of it, whether it answers or not', async () => {
  const before = tf.memory().numTensors;
  const { prompt, ranking } = await askArm(config, 'hybrid', { text: 'violin bow' }, { cacheFolder: null });
  expect(ranking.length).toBeGreaterThan(5);
  expect(prompt).toContain('violin');
  expect(tf.memory().numTensors).toBe(before);
  const refused = askArm(config, 'hybrid', { text: 'x', anchorTurnId: 'none' }, { cacheFolder: null });
  await expect(refused).rejects.toThrow('corpus has no turn: none');
  expect(tf.memory().numTensors).toBe(before);
});

const ask = (question: QuestionInput, arm = 'hybrid') => askArm(config, arm, question, { cacheFolder: null });

test.each(['ranking', 'hybrid'] as const)(
  'a prompt of %s has dates if the question asks for a time',
  async (strategy) => {
    const timeZone = 'Asia/Tokyo';
    const dated = /\(memory:\w+, \w+day \d{4}-\d\d-\d\d \d\d:\d\d Asia\/Tokyo, .* ago\)/;
    expect((await ask({ text: 'When did the violin bow break?', timeZone, strategy })).prompt).toMatch(dated);
    expect((await ask({ text: 'Which violin bow is it?', timeZone, strategy })).prompt).not.toMatch(/Tokyo/);
  },
);

test('times that only put turns in order are no dates', async () => {
  const dataset = await loadDataset(config.dataset, { cacheFolder: null });
  const ordered = { ...dataset, declaration: { ...dataset.declaration, times: 'order' as const } };
  const alone = { ...config, arms: config.arms.filter(({ name }) => name === 'hybrid') };
  const context = { cacheFolder: null, dataset: ordered };
  const { prompt } = await askArm(alone, 'hybrid', { text: 'When did the violin bow break?' }, context);
  expect(prompt).not.toMatch(/UTC/);
});

describe('a shared budget', () => {
  test('gives documents and memories their shares', async () => {
    const { shared, ranking, tokens, prompt } = await ask({ text: 'violin bow', strategy: 'rag', budget: 500 });
    expect(shared).toEqual({
      strategy: 'rag',
      weights: { documents: 0.4, memories: 0.6 },
      found: { documents: 2, memories: 3 },
    });
    const packed = ranking.filter((item) => item.packed);
    expect(packed.filter(({ memoryType }) => memoryType === 'document')).toHaveLength(2);
    expect(packed).toHaveLength(5);
    expect(packed.reduce((sum, item) => sum + item.tokens, 0)).toBe(tokens);
    expect(prompt).toMatch(/## Relevant Documents\n- .*\(c\d+\)/);
    expect(prompt).toMatch(/## Relevant Past Interactions\n- Anna Davis: .*\(memory:(even|odd), /);
  });

  test('with other weights has other counts, and without documents is hybrid', async () => {
    const { shared } = await ask({
      text: 'bow',
      strategy: 'rag',
      budget: 500,
      weights: { documents: 0.8, memories: 0.2 },
    });
    expect(shared?.found).toEqual({ documents: 4, memories: 1 });
    const alone = await ask({ text: 'bow', strategy: 'rag', budget: 500, conversationId: 'c1' });
    expect(alone.shared).toMatchObject({ strategy: 'hybrid', weights: { documents: 0, memories: 1 } });
    expect(alone.ranking.every(({ source }) => source === 'memory:odd')).toBe(true);
  });

  test.each([
    ['How do I tune the', 0.7, 0.3],
    ['Why is it the', 0.5, 0.5],
    ['Which one did Anna Davis try, the', 0.4, 0.6],
  ])('by the question %j has its preset', async (begin, documents, memories) => {
    const { shared } = await ask({ text: `${begin} violin bow?`, strategy: 'rag', weights: 'by-question' });
    expect(shared).toMatchObject({ strategy: 'rag', weights: { documents, memories } });
  });

  test.each(['rag', 'ranking'] as const)(
    'with %s and a session has all documents and its memories alone',
    async (strategy) => {
      const { ranking } = await ask({ text: 'violin bow', strategy, session: 'c3' });
      const isDocument = ({ memoryType }: (typeof ranking)[number]) => memoryType === 'document';
      expect(ranking.filter(isDocument).length).toBeGreaterThan(1);
      expect(ranking.filter((item) => !isDocument(item)).map(({ id }) => id.split('-')[0])).toContain('t3');
      expect(new Set(ranking.filter((item) => !isDocument(item)).map(({ id }) => id.split('-')[0])).size).toBe(1);
      expect(ranking.map(({ score }) => score)).toEqual(ranking.map(({ score }) => score).toSorted((a, b) => b - a));
    },
  );
});

test('the understanding names authors, the time in a zone, and the strategy with its rule', async () => {
  const asOf = Date.UTC(2024, 4, 20, 23);
  const { understanding } = await ask({ text: 'What did Anna Davis say yesterday?', asOf, timeZone: 'Europe/Berlin' });
  expect(understanding).toMatchObject({
    category: 'factual',
    entities: [{ canonicalId: 'author:Anna Davis', match: 'exact' }],
    timeRange: { start: Date.UTC(2024, 4, 19, 22), end: Date.UTC(2024, 4, 20, 22) },
    strategy: { name: 'factual_entity_focused', rule: 'the question is factual and entity-focused' },
  });
});

test('a sensitive question leaves nothing in the cache, and has the same answer', async () => {
  const cacheFolder = join(root, 'cache');
  const question = { text: 'violin bow and rosin' };
  const secret = await askArm(config, 'hybrid', { ...question, sensitive: true }, { cacheFolder });
  expect(existsSync(cacheFolder)).toBe(false);
  const open = await askArm(config, 'hybrid', question, { cacheFolder });
  expect(readdirSync(cacheFolder)).toEqual(expect.arrayContaining(['embeddings', 'stages']));
  expect(secret).toEqual(open);
});

test('a sensitive question is sent to no service', async () => {
  const encoder = { encoder: 'openai-compatible', baseUrl: service.baseUrl, model: 'small', dimension: 5 } as const;
  const sent = resolveConfig({ ...(buildSampleConfig(root) as Plain), embedding: encoder } as Plain, 'sent');
  const question = { text: 'violin of the neighbour' };
  const refused = askArm(sent, 'hybrid', { ...question, sensitive: true }, { cacheFolder: null });
  await expect(refused).rejects.toThrow(SensitiveTextError);
  expect(JSON.stringify(service.received)).not.toContain('of the neighbour'); // only what tuning needs
  const vector = [1, 0, 0, 0, 0];
  await askArm(sent, 'hybrid', { ...question, sensitive: true, vector }, { cacheFolder: null });
  expect(JSON.stringify(service.received)).not.toContain('of the neighbour');
  await askArm(sent, 'hybrid', question, { cacheFolder: null });
  expect(JSON.stringify(service.received)).toContain('violin of the neighbour');
});

describe('what cannot be asked, or has no answer', () => {
  test.each<[string, QuestionInput, string]>([
    ['empty', { text: ' \n' }, 'a question with at least one letter'],
    ['of an unknown session', { text: 'x', session: 'c99' }, 'corpus has no conversation: c99'],
    ['of an unknown time zone', { text: 'x', timeZone: 'Berlin' }, 'unknown time zone: "Berlin"'],
    ['with a budget that is no number', { text: 'x', budget: Number.NaN }, 'budget'],
    ['with a negative budget', { text: 'x', budget: -1 }, 'budget'],
    ['at a moment that is no time', { text: 'x', asOf: Number.NaN }, 'asOf'],
    ['with shares above 1', { text: 'x', weights: { documents: 0.9, memories: 0.3 } }, 'sum is 1 within 0.01'],
  ])('%s is refused', async (_, question, message) => {
    await expect(ask(question)).rejects.toThrow(message);
  });

  test('by an author who wrote nothing is ranked as one by nobody', async () => {
    const nobody = await ask({ text: 'violin bow' });
    expect((await ask({ text: 'violin bow', author: 'Nobody Known' })).ranking).toEqual(nobody.ranking);
  });

  test('of a budget below every turn, in another script, or of 100,000 characters has a prompt', async () => {
    expect(await ask({ text: 'violin', budget: 1 })).toMatchObject({
      tokens: 0,
      prompt: expect.stringContaining('violin'),
    });
    const { ranking, tokens } = await ask({ text: 'violin '.repeat(14_286) });
    expect(ranking.length).toBeGreaterThan(5);
    expect(tokens).toBeLessThanOrEqual(2000);
    const foreign = await ask({ text: 'バイオリンの弓はどこ' }); // no word of it is in the corpus
    expect(foreign).toMatchObject({
      ranking: [],
      tokens: 0,
      prompt: expect.stringContaining('"バイオリンの弓はどこ"'),
    });
  });
});

test('an arm of strategies says why each turn is there, by numbers and a sentence', async () => {
  const memories = [{ search: { newest: { k: 50 } } }, { score: { strategy: {} } }, { fuse: { only: 'strategy' } }];
  const sample = buildSampleConfig(root) as Plain;
  const asking = resolveConfig({ ...sample, arms: { ...(sample.arms as Plain), memories } }, 'sample');
  const { ranking } = await askArm(asking, 'memories', { text: 'violin bow' }, { cacheFolder: null });
  expect(ranking.length).toBeGreaterThan(5);
  for (const { score, parts, reason } of ranking) {
    expect(Object.keys(parts)).toEqual(expect.arrayContaining([...MEMORY_SIGNALS]));
    const { signal, losses, sentence } = reason as NonNullable<typeof reason>;
    expect(Math.max(...Object.values(losses))).toBe(losses[signal]);
    expect(Object.values(losses).reduce((sum, loss) => sum + loss, 0)).toBeCloseTo(score, 5);
    expect(sentence).toMatch(/^Recalled because .* \(\d+ % of its score\)\.$/);
  }
  const other = await askArm(config, 'hybrid', { text: 'violin bow' }, { cacheFolder: null });
  expect(other.ranking.every(({ reason }) => reason === null)).toBe(true);
});
