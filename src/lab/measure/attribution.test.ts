import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import type { Candidates } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import {
  attribute,
  countLosses,
  groupLosses,
  LOSS_STAGES,
  listRelevantPositions,
  type StageTrace,
} from './attribution.ts';

const corpus = new Corpus(
  Array.from({ length: 13 }, (_, i) => ({
    id: `t${i}`,
    conversationId: `c${i}`,
    parentId: null,
    timestamp: i,
    author: null,
    channel: null,
    text: 'x',
  })),
);
const buildSource = (width: number, rows: number[][]): Candidates => ({
  positions: Int32Array.from(rows.flat()),
  scores: new Float32Array(rows.flat().length),
  width,
});

/** Two queries, a cut after 2 places. The first one's pool is full, the second one's padded; 9 was found for the first one and not admitted. */
const trace: StageTrace = {
  admitted: null,
  found: [
    buildSource(3, [
      [1, 2, 9],
      [4, -1, -1],
    ]),
    buildSource(2, [
      [3, 5],
      [6, -1],
    ]),
  ],
  pool: {
    queryCount: 2,
    width: 4,
    positions: Int32Array.from([5, 3, 2, 1, 6, 4, -1, -1]),
  },
  relevance: Float32Array.from([0.9, 0.5, 0.8, 0.5, 0.1, 0.2, 0, 0]),
  scores: Float32Array.from([0.1, 0.9, 0.3, 0.7, -0.1, -0.1, 0, 0]),
  fitting: null,
};
const relevant = [Int32Array.from([3, 5, 1, 9, 7]), Int32Array.from([6, 4, 0])];
const listStageNames = (codes: Uint8Array) => Array.from(codes, (code) => LOSS_STAGES[code]);

describe('a relevant turn', () => {
  test('is lost by the stage that did not let it through', () => {
    expect(listStageNames(attribute(trace, relevant, 2))).toEqual([
      'kept', // 3: third by relevance, first in the end: what fusion lost, reranking brought back
      'rerank', // 5: first by relevance, last in the end
      'kept', // 1
      'filter', // 9
      'candidates', // 7
      'kept', // 6: the padding is no candidate, though its score of 0 is higher
      'kept', // 4
      'candidates', // 0
    ]);
  });

  test('is lost by fusion where it is below the cut by relevance as in the end', () => {
    // 2: second by relevance, third in the end; 1: after 3 of the same relevance, second in the end
    const turns = [Int32Array.from([2, 1, 5]), Int32Array.from([4])];
    expect(listStageNames(attribute(trace, turns, 1))).toEqual(['fusion', 'fusion', 'rerank', 'rerank']);
    expect(listStageNames(attribute(trace, turns, 3))).toEqual(['kept', 'kept', 'rerank', 'kept']);
  });

  test('is inadmissible outside of the slice of its query, whatever was found', () => {
    const admitted = [Int32Array.from([1, 5, 7]), Int32Array.from([])];
    expect(listStageNames(attribute({ ...trace, admitted }, relevant, 2))).toEqual([
      ...['slice', 'rerank', 'kept', 'slice', 'candidates'], // 3, 5, 1, 9, 7
      ...['slice', 'slice', 'slice'],
    ]);
  });

  test('is lost to the budget above the cut if the turns down to it do not fit', () => {
    // 3 is first in the end, 1 second; 6 first, 4 second
    const fitted = { ...trace, fitting: Int32Array.from([1, 0]) };
    expect(listStageNames(attribute(fitted, relevant, 2))).toEqual([
      ...['kept', 'rerank', 'budget', 'filter', 'candidates'], // 3, 5, 1, 9, 7
      ...['budget', 'budget', 'candidates'], // 6, 4, 0
    ]);
  });

  test('is before an equal one if the pool has it first', () => {
    const equal = { ...trace, scores: new Float32Array(8) };
    const all = [Int32Array.from([5, 3, 2, 1]), Int32Array.from([])];
    expect(listStageNames(attribute(equal, all, 2))).toEqual(['kept', 'kept', 'rerank', 'fusion']);
  });
});

test('the fate of the turns is reported by query and counted by stage', () => {
  const losses = groupLosses(corpus, relevant, attribute(trace, relevant, 2));
  expect(losses).toEqual([
    { t3: 'kept', t5: 'rerank', t1: 'kept', t9: 'filter', t7: 'candidates' },
    { t6: 'kept', t4: 'kept', t0: 'candidates' },
  ]);
  expect(Object.entries(countLosses(losses))).toEqual([
    ['kept', 4],
    ['candidates', 2],
    ['filter', 1],
    ['rerank', 1],
  ]);
});

test('the relevant turns of a query are those of the grade, in the order of the judgements', () => {
  const qrels = new Map([
    [
      'q',
      new Map([
        ['t7', 3],
        ['t2', 1],
        ['t5', 2],
      ]),
    ],
  ]);
  expect(listRelevantPositions(corpus, qrels, 2, ['none', 'q'])).toEqual([
    Int32Array.from([]),
    Int32Array.from([7, 5]),
  ]);
});

test('queries that do not fit the pool are refused', () => {
  expect(() => attribute(trace, relevant.slice(0, 1), 2)).toThrow(DimensionMismatchError);
});
