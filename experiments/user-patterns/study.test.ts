import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { writeSampleJsonl } from '../../src/lab/run/jsonl.fixture.ts';
import { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import { type Entrance, findEntrances } from './entrances.ts';
import { computeFeatures, type EntranceFeatures, type HistoryFeatures } from './features.ts';
import { loadSessions } from './locomo-sessions.ts';
import { computeReciprocalRank, measureArms } from './measure.ts';
import type { TaskFigures } from './measure-task.ts';
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
const OPTIONS = {
  ...{ seed: 1, days: 1, leastHistory: 2, mostHistory: 2 },
  ...{ openingsAlone: false, controls: { another: () => true } },
};
const find = (options: Partial<typeof OPTIONS> = {}) => findEntrances(corpus, { ...OPTIONS, ...options });
const name = (positions: Int32Array) => Array.from(positions, (position) => TURNS[position]?.id);

test('an entrance is the first turn in a conversation of somebody else, and sees what was there', () => {
  const { entrances, left } = find();
  const [first, second] = entrances as [Entrance, Entrance];
  expect(entrances.map(({ position }) => TURNS[position]?.id)).toEqual(['d2', 'e2']);
  expect([name(first.candidates), first.answered]).toEqual([['d1', 'e1'], 0]);
  expect([name(second.candidates), second.answered]).toEqual([['e1'], 0]); // d is no new conversation any more
  expect([name(first.own), name(first.others.another as Int32Array)]).toEqual([
    ['a2', 'b1'],
    ['c1', 'a3'],
  ]);
  expect(left).toEqual({ 'answers no candidate': 1, 'too few earlier turns': 1, 'nobody to compare with': 0 });
  expect(find({ days: 0.1 }).left['answers no candidate']).toBe(3);
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
  const { words, histories, newness } = computeFeatures(entrance, corpus, { vectors, dimension: 2 });
  const [own, others] = [histories.own, histories.another] as [HistoryFeatures, HistoryFeatures];
  expect(own.topics.map(([value]) => Number(value?.toFixed(6)))).toEqual([0.8, 0.7, 0.7]);
  expect(others.topics[0]?.[0]).toBe(0);
  expect([Array.from(own.partners), Array.from(others.partners)]).toEqual([
    [0, 1], // Ana has answered Bea, who wrote e1
    [0, 0], // Bea has answered Ana alone
  ]);
  expect(words[0]).toBe(0);
  expect(newness[1]?.[0]).toBeCloseTo(Math.exp(-3 / 24), 12);
});

/** The reciprocal rank among twelve candidates in an order by chance: the harmonic number of 12, divided by 12. */
const BY_CHANCE = 86_021 / 27_720 / 12;

/** Twelve candidates each, of which the person's topics show the right one. */
function drawFeatures(count: number): EntranceFeatures[] {
  return Array.from({ length: count }, (_, i) => {
    const values = (right: number) => Float64Array.from({ length: 12 }, (__, at) => (at === i % 12 ? right : 0.5));
    const flat = values(0.5);
    const history = (right: number) => ({ topics: [values(right), flat, flat], partners: flat });
    const position = new Int32Array(0);
    return {
      entrance: {
        ...{ position: i, author: `p${i % 5}`, answered: i % 12 },
        ...{ candidates: position, own: position, others: {} },
      },
      ...{ newness: [flat, flat, flat], words: flat, histories: { own: history(1), "another's": history(0.5) } },
    };
  });
}

test('a history that tells is chosen and found; one that does not adds nothing', () => {
  const features = drawFeatures(24);
  const arms = measureArms([{ dev: features, test: features }], {
    ...{ seed: 1, samples: 100, level: 0.95, hasNewness: true },
    clusterOf: ({ entrance }) => entrance.author,
  });
  const find = (arm: string) => arms.find((one) => one.name === arm && one.situation === 'before the first word');
  expect(find('no history')?.reciprocalRank.mean).toBeCloseTo(BY_CHANCE, 12); // all are equal
  expect(find('own topics')).toMatchObject({ weights: [{ nearest: 0 }], reciprocalRank: { mean: 1 } });
  expect(find('own topics')?.gainOver["another's"]?.mean).toBeCloseTo(1 - BY_CHANCE, 12);
  expect(find("another's topics and partners")).toMatchObject({
    weights: [{ topics: 0, partners: 0 }],
    gain: { mean: 0 },
  });
  const weights = { age: 0, newness: 1, words: 0, nearest: 0, topics: 1, partners: 0 };
  expect(computeReciprocalRank(features[5] as EntranceFeatures, weights, "another's")).toBeCloseTo(BY_CHANCE, 12);
});

/** Three conversations of six sessions, which the speakers begin in turn, five days apart; each in another year. */
const SAMPLES = [0, 1, 2].map((talk) => {
  const speakers = [`Anna${talk}`, 'Ben'];
  const sessions = [1, 2, 3, 4, 5, 6].map((number) => [
    [`session_${number}_date_time`, `1:00 pm on ${5 * number - 4} April, ${2020 + talk}`],
    [
      `session_${number}`,
      [0, 1, 2].map((i) => ({
        speaker: speakers[(number + i) % 2],
        dia_id: `D${number}:${i + 1}`,
        text: `Hey Ben! Topic${talk} part${number % 3} said${i}`,
      })),
    ],
  ]);
  const qa = [{ question: 'What?', answer: 'it', evidence: ['D1:1'], category: 4 }];
  return { sample_id: `talk-${talk}`, conversation: Object.fromEntries(sessions.flat()), qa };
});

test('a session of LoCoMo is a conversation: times count from the first session, and no text names its speakers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'user-patterns-'));
  try {
    const path = join(folder, 'locomo10.json');
    writeFileSync(path, JSON.stringify(SAMPLES));
    const sessions = await loadSessions(path, { cacheFolder: folder, progress: ignoreProgress });
    const opening = sessions.corpus.getTurn('talk-1/D2:1');
    expect(opening).toMatchObject({ conversationId: 'talk-1/session_2', parentId: null, timestamp: 5 * 24 * HOUR });
    expect(opening.text).toBe('Hey ! Topic1 part2 said0');
    expect(sessions.corpus.getTurn('talk-1/D2:2').parentId).toBe('talk-1/D2:1');
    expect(sessions.conversationOf.get('talk-2/Ben')).toBe('talk-2');
    const isPartner = (a: string, b: string) => sessions.conversationOf.get(a) === sessions.conversationOf.get(b);
    const { entrances } = findEntrances(sessions.corpus, {
      ...{ ...OPTIONS, days: 1, leastHistory: 3, mostHistory: 4, openingsAlone: true },
      controls: { stranger: (a, b) => !isPartner(a, b), partner: isPartner },
    });
    const { turns } = sessions.corpus;
    const conversation = (position: number) => (turns[position] as Turn).id.split('/')[0] as string;
    expect(entrances.length).toBeGreaterThan(3);
    for (const { position, candidates, answered, own, others } of entrances) {
      expect(candidates.length).toBeGreaterThan(1);
      expect([...candidates].every((at) => at < position && turns[at]?.parentId === null)).toBe(true);
      expect(turns[candidates[answered] as number]?.conversationId).toBe(turns[position]?.conversationId);
      const { stranger, partner } = others as Record<'stranger' | 'partner', Int32Array>;
      expect([stranger.length, partner.length]).toEqual([own.length, own.length]);
      expect(new Set([...own, ...partner].map(conversation))).toEqual(new Set([conversation(position)]));
      expect([...stranger].map(conversation)).not.toContain(conversation(position));
      expect(Math.max(...own, ...stranger, ...partner)).toBeLessThan(position);
      expect(new Set([...own].map((at) => turns[at]?.author))).toEqual(new Set([turns[position]?.author]));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
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
    const context = { cacheFolder: join(folder, 'cache'), progress: ignoreProgress };
    const { figures, sections } = await userPatterns.measure(settings, context);
    expect((figures as { tasks: readonly TaskFigures[] }).tasks.map(({ arms }) => arms.length)).toEqual([14]);
    expect(sections.join('\n').match(/\| another's topics and partners/g)).toHaveLength(2);
    expect(sections.at(-1)).toMatch(/^LoCoMo is not measured: .* add --set locomo=FILE/);
    const locomo = join(folder, 'locomo10.json');
    writeFileSync(locomo, JSON.stringify(SAMPLES));
    const both = await userPatterns.measure(
      { ...settings, locomo, sessionEmbedding: settings.embedding, sessionDays: 1 },
      context,
    );
    const [mail, talks] = (both.figures as { tasks: readonly TaskFigures[] }).tasks;
    expect(mail).toEqual((figures as { tasks: readonly TaskFigures[] }).tasks[0]);
    expect(talks).toMatchObject({ name: 'locomo', clusters: 3 });
    expect(talks?.arms.find((arm) => arm.name === 'own partners')).toMatchObject({ reciprocalRank: { mean: 1 } });
    expect(talks?.arms.map(({ weights }) => weights.length)).toEqual(Array(20).fill(3));
    expect(both.sections.join('\n')).toContain("minus the partner's");
    const strict = userPatterns.measure(
      { ...settings, leastHistory: 999 },
      { cacheFolder: folder, progress: ignoreProgress },
    );
    await expect(strict).rejects.toThrow(/0 dev and 0 test entrances; lower leastHistory/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
