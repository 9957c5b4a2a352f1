import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { GraphIndex } from './graph-index.ts';
import { graph } from './graph-options.ts';
import type { GraphPairs } from './graph-pairs.ts';

const listWords = createTokeniser({ dropStopWords: false, stem: false });

/** Every word is a concept; each turn is a conversation of its own, so that turns are joined by concepts and replies alone. */
function describeTurn(position: number, text: string, parent: number | null = null): Turn {
  return {
    id: `t${position}`,
    conversationId: parent === null ? `c${position}` : `c${parent}`,
    parentId: parent === null ? null : `t${parent}`,
    timestamp: position,
    author: null,
    channel: null,
    text,
  };
}

const TEXTS = ['rome zama', 'zama cannae', 'cannae alps', 'alps', 'ships', 'rome', 'rome zama ships'];
const turns = TEXTS.map((text, i) => describeTurn(i, text));

function createIndex(given: readonly Turn[], options: object = {}) {
  const corpus = new Corpus(given);
  const context = {
    corpus,
    vectors: new Float32Array(0),
    dimension: 0,
    concepts: corpus.turns.map(({ text }) => listWords(text)),
  };
  return new GraphIndex(context, graph.options.parse({ index: 'graph', ...options }), listWords);
}

const ask = (text: string, cutoff: number, seeds: readonly number[], rest: Partial<QueryBatch> = {}): QueryBatch => ({
  texts: [text],
  vectors: new Float32Array(0),
  cutoffs: Int32Array.of(cutoff),
  seeds: [{ positions: Int32Array.from(seeds), weights: Float32Array.from(seeds, (_, i) => 1 / (1 + i)) }],
  ...rest,
});
const score = (queries: QueryBatch, positions: readonly number[], given = turns, options?: object) =>
  createIndex(given, options).scorePairs(queries, Int32Array.from(positions), positions.length);
const round = (values: Float32Array) => Array.from(values, (value) => Number(value.toFixed(6)));

describe('a turn on the graph of a moment', () => {
  test('is as far from a seed turn as the fewest edges between them', async () => {
    // 0 - zama - 1 - cannae - 2 - alps - 3: two edges a turn. 4 shares no concept; 5 shares rome with 0.
    const { distance } = await score(ask('', 6, [0]), [0, 1, 2, 3, 4, 5, -1]);
    expect(round(distance)).toEqual(round(Float32Array.of(1, 1 / 3, 1 / 5, 0, 0, 1 / 3, 0)));
    const nearest = await score(ask('', 6, [0, 2]), [1, 3]);
    expect(round(nearest.distance)).toEqual(round(Float32Array.of(1 / 3, 1 / 3)));
    expect([...(await score(ask('rome', 6, []), [0, 5])).distance]).toEqual([0, 0]);
  });

  test('has the degree of its edges', async () => {
    const { degree } = await score(ask('', 6, [0]), [0, 3, 4, -1]);
    expect(round(degree)).toEqual(round(Float32Array.of(Math.log(3), Math.log(2), Math.log(2), 0)));
    const weighted = await score(ask('', 6, [0]), [0], turns, { edges: { mentions: 2.5 } });
    expect(weighted.degree[0]).toBeCloseTo(Math.log(6), 6);
  });

  test('shares concepts with the query, the rare ones more', async () => {
    // Before position 6: rome in 2 turns, zama in 2, ships in 1. Before 7: rome and zama in 3, ships in 2.
    const shared = async (cutoff: number, positions: number[]) =>
      round((await score(ask('rome zama ships rome unknown', cutoff, []), positions)).sharedConcepts);
    expect(await shared(6, [0, 1, 2, 4, 5, -1])).toEqual([1, 0.5, 0, 1, 0.5, 0]);
    expect(await shared(7, [0, 4, 6])).toEqual(round(Float32Array.of(2 / 3, 1 / 2, 2 / 3 + 1 / 2)));
  });

  test('has the score that a search gives it', async () => {
    const queries = ask('rome', 6, [1]);
    const index = createIndex(turns);
    const found = await index.search(queries, 6);
    const { pagerank } = await index.scorePairs(queries, Int32Array.of(0, 1, 2, 3, 4, 5), 6);
    const scores = new Map(Array.from(found.positions, (position, i) => [position, found.scores[i] as number]));
    expect([...pagerank]).toEqual([0, 1, 2, 3, 4, 5].map((position) => scores.get(position) ?? 0));
    expect(pagerank[0]).toBeGreaterThan(0);
    // Whatever the scores of the candidates are.
    const decayed = await score(queries, [0, 1], turns, { scoring: 'hop-decay' });
    expect([...decayed.pagerank]).toEqual([...pagerank.subarray(0, 2)]);
    const solved = await score(queries, [0, 1, 2, 3, 4, 5], turns, { solver: 'host', tolerance: 1e-12 });
    for (const [i, value] of solved.pagerank.entries()) expect(value).toBeCloseTo(pagerank[i]!, 5);
  });
});

const EARLIER = [0, 1, 2, 3, 4, 5];
const readAll = (pairs: GraphPairs) => Object.values(pairs).map((column: Float32Array) => [...column]);

test('future turns change nothing', async () => {
  const later = [...turns, describeTurn(7, 'rome zama cannae alps ships'), describeTurn(8, 'zama ships', 0)];
  const queries = ask('rome zama ships', 6, [0, 3]);
  expect(readAll(await score(queries, EARLIER, later))).toEqual(
    readAll(await score(queries, EARLIER, turns.slice(0, 6))),
  );
});

test('hidden turns are on no path, in no degree, and not counted', async () => {
  const visible = [Int32Array.of(0, 2, 3, 4, 5)];
  const hidden = await score(ask('zama', 6, [0], { visible }), EARLIER);
  // Without 1 nothing joins 0 with 2, and 0 alone mentions zama.
  expect(round(hidden.distance)).toEqual(round(Float32Array.of(1, 0, 0, 0, 0, 1 / 3)));
  expect(round(hidden.sharedConcepts)).toEqual([1, 0, 0, 0, 0, 0]);
  expect(hidden.degree[1]).toBe(0);
  expect([...hidden.pagerank.subarray(1, 5)]).toEqual([0, 0, 0, 0]);
});

test('pairs that do not fit the queries, or are not earlier, are refused', async () => {
  const index = createIndex(turns);
  await expect(index.scorePairs(ask('', 3, []), Int32Array.of(0, 1, 2), 2)).rejects.toThrow(DimensionMismatchError);
  await expect(index.scorePairs(ask('', 3, []), Int32Array.of(0, 3), 2)).rejects.toThrow(
    'pair of query 0 is not strictly earlier: position 3; pass earlier turns only',
  );
  index.dispose();
  await expect(index.scorePairs(ask('', 3, []), Int32Array.of(0), 1)).rejects.toThrow(ValidationError);
});
