import { describe, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { Conversation } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { COORDINATES, type Dimensions } from './coordinate-names.ts';
import { computeTrajectoryCoordinates, type TurnFeatures } from './coordinates.ts';
import {
  buildForestTurn,
  FOREST_DIMENSION as DIMENSION,
  drawSampleForest,
  FOREST_SIZE as SIZE,
} from './forest.fixture.ts';
import { openFrames } from './frame-tables.ts';
import { COLD_START_TURNS, computeQueryFrames, type QueryPoints } from './query-frames.ts';

const QUERIES = 31;
const WIDTH = 37;

function drawQueryPoints(source: Random, corpus: Corpus): QueryPoints {
  const timestamps = Float64Array.from({ length: QUERIES }, () => 1 + source.integer((SIZE / 2) * 1000));
  return {
    timestamps,
    components: Int32Array.from(timestamps, () => 1 + source.integer(11)),
    vectors: Float32Array.from({ length: QUERIES * DIMENSION }, () => source.drawNormal()),
    anchors: Int32Array.from(timestamps, (t) =>
      source.uniform() < 0.5 ? -1 : source.integer(corpus.countEarlierTurns(t)),
    ),
  };
}

function drawRandomCase(seed: number) {
  const source = createRandom(seed, 'query-frames.test');
  const { corpus, vectors, components } = drawSampleForest(source);
  const points = drawQueryPoints(source, corpus);
  const positions = Int32Array.from({ length: QUERIES * WIDTH }, (_, pair) => {
    const cutoff = corpus.countEarlierTurns(points.timestamps[Math.floor(pair / WIDTH)] as number);
    return source.uniform() < 0.1 ? -1 : source.integer(cutoff);
  });
  return { corpus, vectors, components, points, positions };
}

/** The conversation as it would be if the query were its next turn, rebuilt literally. */
function rebuildConversation(
  { corpus, vectors, components, points }: ReturnType<typeof drawRandomCase>,
  query: number,
  position: number,
): { conversation: Conversation; features: Map<string, TurnFeatures>; before: readonly Turn[] } {
  const moment = points.timestamps[query] as number;
  const { conversationId } = corpus.turns[position] as Turn;
  const before = corpus.turns.filter((turn) => turn.conversationId === conversationId && turn.timestamp < moment);
  const anchor = corpus.turns[points.anchors[query] as number];
  const parent = anchor?.conversationId === conversationId ? anchor : (before.at(-1) as Turn);
  const viewVectorRow = (rows: Float32Array, row: number) => rows.subarray(row * DIMENSION, (row + 1) * DIMENSION);
  const features = new Map<string, TurnFeatures>(
    before.map(({ id }) => {
      const row = corpus.turns.findIndex((turn) => turn.id === id);
      return [id, { embedding: viewVectorRow(vectors, row), components: components[row] as number }];
    }),
  );
  features.set('query', {
    embedding: viewVectorRow(points.vectors, query),
    components: points.components[query] as number,
  });
  const conversation = new Conversation(conversationId, [
    ...before,
    buildForestTurn('query', conversationId, parent.id, moment),
  ]);
  return { conversation, features, before };
}

describe.each([
  [5, 'log', 1],
  [7, 'log', 2],
  [7, 'raw', 3],
  [3, 'log', 4],
] as const)('%i coordinates, %s complexity, seed %i', (dimensions: Dimensions, complexityScale, seed) => {
  const input = drawRandomCase(seed);
  const frames = computeQueryFrames(
    openFrames(input.corpus, input.vectors, input.components),
    input.points,
    input.positions,
    { dimensions, complexityScale },
  );
  const pairs = [...input.positions.entries()];

  test('equal those of the rebuilt conversation with the query as a turn', () => {
    expect(frames.names).toEqual(COORDINATES[dimensions]);
    let worst = 0;
    for (const [pair, position] of pairs) {
      if (position < 0) continue;
      const { conversation, features } = rebuildConversation(input, Math.floor(pair / WIDTH), position);
      const expected = computeTrajectoryCoordinates(conversation, features, { dimensions, complexityScale });
      const findRowOffset = (id: string) => expected.turnIds.indexOf(id) * dimensions;
      const turnId = input.corpus.turns[position]?.id as string;
      for (let i = 0; i < dimensions; i++) {
        const candidate = frames.candidates[pair * dimensions + i] as number;
        const query = frames.queries[pair * dimensions + i] as number;
        worst = Math.max(worst, Math.abs(candidate - (expected.values[findRowOffset(turnId) + i] as number)));
        worst = Math.max(worst, Math.abs(query - (expected.values[findRowOffset('query') + i] as number)));
      }
    }
    expect(worst).toBeLessThan(1e-6); // float32 of numbers up to 11
  });

  test('place the query last in a ring that it has joined', () => {
    let cold = 0;
    for (const [pair, position] of pairs) {
      if (position < 0) continue;
      const { before } = rebuildConversation(input, Math.floor(pair / WIDTH), position);
      const ringPosition = before.findIndex(({ id }) => id === input.corpus.turns[position]?.id);
      const clockwise = before.length - ringPosition;
      expect(frames.turns[pair]).toBe(before.length);
      expect(frames.ringPositions[pair]).toBe(ringPosition);
      expect(frames.lineDistances[pair]).toBe(clockwise);
      expect(frames.ringDistances[pair]).toBe(Math.min(clockwise, ringPosition + 1));
      expect(frames.coldStart[pair]).toBe(before.length < COLD_START_TURNS ? 1 : 0);
      cold += frames.coldStart[pair] as number;
    }
    expect(cold).toBeGreaterThan(0);
  });

  test('are 0 for padding', () => {
    const padding = pairs.filter(([, position]) => position < 0).map(([pair]) => pair);
    expect(padding.length).toBeGreaterThan(0);
    for (const pair of padding) {
      const listPairRow = (values: Float32Array) => [...values.subarray(pair * dimensions, (pair + 1) * dimensions)];
      const figures = [
        frames.turns,
        frames.ringPositions,
        frames.ringDistances,
        frames.lineDistances,
        frames.coldStart,
      ];
      const all = [
        ...listPairRow(frames.candidates),
        ...listPairRow(frames.queries),
        ...figures.map((values) => values[pair]),
      ];
      expect(all.every((value) => value === 0)).toBe(true);
    }
  });
});

describe('refuses', () => {
  const { corpus, vectors, components } = drawRandomCase(5);
  const frames = openFrames(corpus, vectors, components);
  const buildPointAt = (timestamp: number, anchor: number): QueryPoints => ({
    timestamps: Float64Array.of(timestamp),
    components: Int32Array.of(1),
    vectors: new Float32Array(DIMENSION),
    anchors: Int32Array.of(anchor),
  });
  const computeOneFrame = (points: QueryPoints, position: number) =>
    computeQueryFrames(frames, points, Int32Array.of(position), { dimensions: 5 });

  test('a candidate of the same moment as the query', () => {
    expect(() => computeOneFrame(buildPointAt(3000, -1), 6)).toThrow('candidate is not earlier than query 0: 6');
    expect(computeOneFrame(buildPointAt(3000, -1), 5).turns[0]).toBeGreaterThan(0);
  });

  test('an anchor of the future', () => {
    expect(() => computeOneFrame(buildPointAt(3000, 7), 5)).toThrow('anchor is not earlier than query 0: 7');
  });

  test('vectors of another length', () => {
    expect(() => computeOneFrame({ ...buildPointAt(3000, -1), vectors: new Float32Array(7) }, 5)).toThrow(
      'vectors of the queries: expected 13, got 7',
    );
  });
});
