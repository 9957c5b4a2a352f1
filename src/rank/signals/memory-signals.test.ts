import { describe, expect, test } from 'vitest';
import {
  computeMemorySignals,
  explainMemoryScore,
  type RatedMemory,
  type RatedQuestion,
  scoreMemorySignals,
} from './memory-signals.ts';

const DAY = 24 * 3_600_000;
const now = 100 * DAY;
const memory = (changes: Partial<RatedMemory> = {}): RatedMemory => ({
  ...{ cosine: 0.5, entities: ['a'], createdAt: 90 * DAY, importance: 0.8, useCount: 0, memoryType: 'episodic' },
  ...changes,
});
const question = (changes: Partial<RatedQuestion> = {}): RatedQuestion => ({
  ...{ now, entities: ['a', 'b'], window: null },
  ...changes,
});
const WEIGHTS = {
  semantic_similarity: 0.25,
  entity_overlap: 0.4,
  temporal_relevance: 0.2,
  importance: 0.1,
  reinforcement: 0.05,
};

test('the signals of a memory', () => {
  const signals = computeMemorySignals(memory(), question());
  expect(signals).toEqual({
    semantic_similarity: 0.5,
    entity_overlap: 0.5,
    temporal_relevance: Math.exp(-0.1),
    importance: 0.8,
    reinforcement: 0,
  });
  expect(scoreMemorySignals(signals, WEIGHTS, 'episodic')).toBeCloseTo(0.405 + 0.2 * Math.exp(-0.1), 12);
  const plain = scoreMemorySignals(signals, WEIGHTS, null);
  expect(scoreMemorySignals(signals, WEIGHTS, 'summary')).toBeCloseTo(1.15 * plain, 12);
});

test('what is missing', () => {
  const bare = memory({ cosine: null, entities: [], useCount: null });
  expect(computeMemorySignals(bare, question())).toMatchObject({
    semantic_similarity: 0,
    entity_overlap: 0,
    reinforcement: 0.5,
  });
  expect(computeMemorySignals(memory(), question({ entities: [] })).entity_overlap).toBe(0);
  expect(computeMemorySignals(memory({ useCount: 200 }), question()).reinforcement).toBe(1);
});

describe('time', () => {
  const window = { start: 80 * DAY, end: 85 * DAY };
  test.each([
    [80 * DAY, 1],
    [85 * DAY, 1],
    [85 * DAY + 1, 1], // no whole day outside
    [87.9 * DAY, Math.exp(-0.2)],
    [78.5 * DAY, Math.exp(-0.1)],
  ])('at %d in a window', (createdAt, expected) => {
    expect(computeMemorySignals(memory({ createdAt }), question({ window })).temporal_relevance).toBeCloseTo(
      expected,
      12,
    );
  });
});

test('the reason is the signal whose removal lowers the score most', () => {
  const signals = computeMemorySignals(memory(), question());
  const reason = explainMemoryScore(signals, WEIGHTS, 'summary');
  expect(reason.signal).toBe('entity_overlap');
  expect(reason.losses.entity_overlap).toBeCloseTo(1.15 * 0.2, 12);
  expect(reason.sentence).toBe('Recalled because it names what the question names (34 % of its score).');
  const none = computeMemorySignals(memory({ cosine: -1, entities: [], importance: 0 }), question());
  expect(explainMemoryScore(none, { ...WEIGHTS, temporal_relevance: 0 }, null)).toMatchObject({
    signal: 'entity_overlap',
    sentence: 'Recalled because it names what the question names.',
  });
});
