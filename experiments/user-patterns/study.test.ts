import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useBackend } from '../../src/core/backend.ts';
import { ignoreProgress } from '../../src/core/progress.ts';
import { writeSampleJsonl } from '../../src/experiment/run/jsonl.fixture.ts';
import { Corpus } from '../../src/model/corpus.ts';
import { type Entrance, findEntrances } from './entrances.ts';
import { computeFeatures, type EntranceFeatures } from './features.ts';
import { computeReciprocalRank, measureArms, type PatternArm } from './measure.ts';
import { userPatterns } from './study.ts';

const HOUR = 3_600_000;
const turn = (id: string, parentId: string | null, hours: number, author: string) => {
  const conversationId = id[0] as string;
  return { id, conversationId, parentId, timestamp: hours * HOUR, author, channel: null, text: `of ${author}` };
};

/** Ana has spoken in a and b, Bea in a and c; then Ana enters d, while e is there too. */
const TURNS = [
  turn('a1', null, 0, 'bea'),
  turn('a2', 'a1', 1, 'ana'),
  turn('b1', null, 2, 'ana'),
  turn('c1', null, 3, 'bea'),
  turn('a3', 'a2', 4, 'bea'),
  turn('d1', null, 50, 'cyd'),
  turn('e1', null, 51, 'bea'),
  turn('b2', 'b1', 52, 'cyd'), // of a conversation in which Ana has spoken: no candidate
  turn('d2', 'd1', 53, 'ana'),
  turn('e2', 'e1', 54, 'ana'),
];
const corpus = new Corpus(TURNS);
const OPTIONS = { seed: 1, days: 1, leastHistory: 2, mostHistory: 2 };
const find = (options: Partial<typeof OPTIONS> = {}) =>
  findEntrances({ corpus, devConversations: new Set(['d']) }, { ...OPTIONS, ...options });
const name = (positions: Int32Array) => Array.from(positions, (position) => TURNS[position]?.id);

test('an entrance is the first turn in a conversation of somebody else, and sees what was there', () => {
  const { entrances, left } = find();
  const [first, second] = entrances as [Entrance, Entrance];
  expect(entrances.map(({ position, dev }) => [TURNS[position]?.id, dev])).toEqual([
    ['d2', true],
    ['e2', false],
  ]);
  expect([name(first.candidates), first.answered]).toEqual([['d1', 'e1'], 0]);
  expect([name(second.candidates), second.answered]).toEqual([['e1'], 0]); // d is no new conversation any more
  expect([name(first.own), name(first.others)]).toEqual([
    ['a2', 'b1'],
    ['c1', 'a3'],
  ]);
  expect(left).toEqual({ 'answered too late': 1, 'too few earlier turns': 1, 'nobody to compare with': 0 });
  expect(find({ days: 0.1 }).left['answered too late']).toBe(3);
  expect(find({ leastHistory: 3 }).left['too few earlier turns']).toBe(3);
});

test('values are of the history that is named', () => {
  const [entrance] = find().entrances as [Entrance];
  const vectors = new Float32Array(2 * TURNS.length);
  const set = (id: string, ...vector: number[]) => vectors.set(vector, 2 * TURNS.findIndex((one) => one.id === id));
  set('d1', 1, 0);
  set('a2', 0.6, 0.8);
  set('b1', 0.8, 0.6);
  set('d2', 0, 1);
  const { words, own, others, newness } = computeFeatures(entrance, corpus, { vectors, dimension: 2 });
  expect(own.topics.map(([value]) => Number(value?.toFixed(6)))).toEqual([0.8, 0.7, 0.7]);
  expect(others.topics[0]?.[0]).toBe(0);
  expect([Array.from(own.partners), Array.from(others.partners)]).toEqual([
    [0, 1], // Ana has answered Bea, who wrote e1
    [0, 0], // Bea has answered Ana alone
  ]);
  expect(words[0]).toBe(0);
  expect(newness[1]?.[0]).toBeCloseTo(Math.exp(-3 / 24), 12);
});

/** Twelve candidates each, of which the person's topics show the right one. */
function drawFeatures(count: number): EntranceFeatures[] {
  return Array.from({ length: count }, (_, i) => {
    const values = (right: number) =>
      Float64Array.from({ length: 12 }, (__, place) => (place === i % 12 ? right : 0.5));
    const flat = values(0.5);
    const history = (right: number) => ({ topics: [values(right), flat, flat], partners: flat });
    const position = new Int32Array(0);
    return {
      entrance: {
        ...{ position: i, author: `p${i % 5}`, dev: false, answered: i % 12 },
        ...{ candidates: position, own: position, others: position },
      },
      ...{ newness: [flat, flat, flat], words: flat, own: history(1), others: history(0.5) },
    };
  });
}

test('a history that tells is chosen and found; one that does not adds nothing', () => {
  const features = drawFeatures(24);
  const arms = measureArms(features, features, { seed: 1, samples: 100, level: 0.95 });
  const find = (arm: string) => arms.find((one) => one.name === arm && one.situation === 'before the first word');
  expect(find('no history')?.reciprocalRank.mean).toBeCloseTo(1 / 6.5, 12); // all are equal
  expect(find('own topics')).toMatchObject({ weights: { nearest: 0 }, reciprocalRank: { mean: 1 } });
  expect(find('own topics')?.gainOverOther?.mean).toBeCloseTo(1 - 1 / 6.5, 12);
  expect(find("another's topics and partners")).toMatchObject({
    weights: { topics: 0, partners: 0 },
    gain: { mean: 0 },
  });
  const weights = { age: 0, newness: 1, words: 0, nearest: 0, topics: 1, partners: 0 };
  expect(computeReciprocalRank(features[5] as EntranceFeatures, weights, 'others')).toBeCloseTo(1 / 6.5, 12);
});

test('runs on a small corpus, whose tables name every arm', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'user-patterns-'));
  try {
    writeSampleJsonl(folder);
    const path = join(folder, 'turns.jsonl');
    const turns = readFileSync(path, 'utf8').trim().split('\n');
    writeFileSync(
      path,
      turns.map((line, i) => `${JSON.stringify({ ...JSON.parse(line), author: `p${i % 4}` })}\n`).join(''),
    );
    await useBackend('wasm');
    const settings = userPatterns.settings.parse({
      ...{ dataset: { name: 'jsonl', path: folder }, embedding: { encoder: 'lsa', dimension: 13 } },
      ...{ days: 1, leastHistory: 1, samples: 100 },
    });
    const { figures, sections } = await userPatterns.measure(settings, {
      cacheFolder: join(folder, 'cache'),
      progress: ignoreProgress,
    });
    expect((figures as { arms: readonly PatternArm[] }).arms).toHaveLength(14);
    expect(sections.join('\n').match(/\| another's topics and partners/g)).toHaveLength(2);
    const strict = userPatterns.measure(
      { ...settings, leastHistory: 999 },
      { cacheFolder: folder, progress: ignoreProgress },
    );
    await expect(strict).rejects.toThrow(/0 dev and 0 test entrances; lower leastHistory/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
