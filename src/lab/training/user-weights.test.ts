import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { readUserWeights } from '../../rank/learning/weight-file.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { runFiles, writeRunFolder } from '../run/run-folder.ts';
import { changeSampleTraining } from './training-config.fixture.ts';
import { type FinishedTraining, runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-user-weights-'));
afterAll(() => rmSync(root, { recursive: true }));
const DAY = 86_400_000;
const WORDS = 'bread soup lamp salt train string garden window'.split(' ');

/** Conversations of eight memories and one question: ann always wants the newest memory, bo the most used, cy asks twice and wants any. */
function writeMemories(folder: string): void {
  const source = createRandom(11, 'user-weights');
  const [turns, queries, qrels]: [object[], object[], string[]] = [[], [], []];
  for (let number = 0; number < 62; number++) {
    const author = number < 30 ? 'ann' : number < 60 ? 'bo' : 'cy';
    const start = Date.UTC(2020, 0, 1) + number * 400 * DAY;
    const uses = source.shuffle([0, 1, 3, 8, 20, 50, 90, 140]);
    for (const [i, useCount] of uses.entries())
      turns.push({
        ...{ id: `m${number}-${i}`, conversationId: `c${number}`, parentId: null, timestamp: start + i * 30 * DAY },
        ...{ text: `${WORDS[source.integer(8)]} ${WORDS[source.integer(8)]}`, attributes: { useCount } },
      });
    const wanted = author === 'ann' ? 7 : author === 'bo' ? uses.indexOf(140) : source.integer(8);
    queries.push({
      id: `q${number}`,
      text: 'something nice',
      author,
      split: 'dev',
      timestamp: start + 240 * DAY,
      conversationId: `c${number}`,
    });
    qrels.push(`q${number} 0 m${number}-${wanted} 1`);
  }
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(folder, 'turns.jsonl'), lines(turns));
  writeFileSync(join(folder, 'queries.jsonl'), lines(queries));
  writeFileSync(join(folder, 'qrels.txt'), `${qrels.join('\n')}\n`);
}

function load(set: Plain = {}) {
  const memories = ['cosine', 'memory.time', 'memory.uses'];
  const small = { importance: false, controls: false, resamples: 0 };
  const changes = {
    search: { bm25: null, flat: null, newest: { k: 8 } },
    'mix.signals.groups': ['text', 'memory'],
    'mix.fit.model': { name: 'linear', signals: memories, initial: { cosine: 1 } },
    'mix.fit.users': { least: 5, kappa: 5 },
    ...Object.fromEntries(Object.entries(small).map(([key, value]) => [`mix.fit.${key}`, value])),
    ...set,
  };
  const evaluation = { metrics: ['mrr@10'], samples: 199 };
  return resolveConfig(changeSampleTraining(root, changes, { evaluation }), 'test');
}

const context = { backend: 'cpu' as const, cacheFolder: null, command: 'ragpp run users' };
let finished: FinishedTraining;
beforeAll(async () => {
  await useBackend('cpu');
  writeMemories(root);
  finished = await runTraining(load(), context);
});

test('users with other tastes find more by their own weights, on conversations that they were not learned from', () => {
  const { arms = [], baseline, learned = [], asked } = finished.result.users ?? {};
  const mrr = Object.fromEntries(arms.map(({ name, metrics }) => [name, metrics['mrr@10']?.mean as number]));
  expect([baseline, asked]).toEqual(['strategy', 3]);
  expect(learned.map(({ user }) => user)).toEqual(['ann', 'bo']);
  expect(mrr.user).toBeGreaterThan((mrr.strategy as number) + 0.05);
  expect(mrr.user).toBeGreaterThan((mrr.everyone as number) + 0.05);
  expect(mrr['another user']).toBeLessThan(mrr.user as number);
  const [ann, bo] = learned;
  expect(ann?.weights.temporal_relevance).toBeGreaterThan((bo?.weights.temporal_relevance as number) + 0.2);
  expect(bo?.weights.reinforcement).toBeGreaterThan((ann?.weights.reinforcement as number) + 0.2);
  for (const { weights, questions, share } of learned) {
    expect(Object.values(weights).reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 9);
    expect(share).toBe(questions / (questions + 5));
  }
});

test('the folder has the weights for an arm, and the rankings', () => {
  const folder = writeRunFolder(join(root, 'results', 'users'), runFiles(finished));
  const { users, provenance } = readUserWeights(join(folder, 'users.json'));
  expect(Object.keys(users)).toEqual(['ann', 'bo']);
  expect(provenance.dataHash).toBe(finished.result.dataset.hash);
  expect([...finished.runs.keys()].filter((name) => name.startsWith('users, '))).toEqual(
    ['strategy', 'everyone', 'user', 'another user'].map((method) => `users, ${method}`),
  );
});

test('a bank without the five signals is refused', () => {
  const set = { 'mix.signals.groups': ['text'], 'mix.fit.model': { name: 'linear', initial: { cosine: 1 } } };
  expect(() => load(set)).toThrow(/mix\.signals\.groups.*text and memory/);
});
