import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { drawContractCorpus, drawContractQueries } from '../candidates/contract-sample.fixture.ts';
import { drawGraphMemories } from '../graph/graph-memories.fixture.ts';
import { KeptGraphs } from '../graph/graph-moment.ts';
import { GraphIndex } from './graph-index.ts';
import { graph } from './graph-options.ts';

beforeAll(async () => void (await useBackend('wasm')));

const [N, Q] = [97, 5];
const { vectors, dimension } = drawContractCorpus(N);
const memories = drawGraphMemories(13, N);
const turns = memories.map(({ id, conversationId, parentId, text, title }, timestamp) => ({
  ...{ id, conversationId, text, timestamp, author: null, channel: null },
  attributes: title === null ? {} : { title },
  // In a corpus a parent comes before its child, in the same conversation.
  parentId:
    memories.slice(0, timestamp).find((other) => other.id === parentId && other.conversationId === conversationId)
      ?.id ?? null,
}));

const relations = memories.map(({ relations }) => (relations ?? []).flat());

/**
 * The vectors of the concepts of the first turns, in the order of their mentions or in another, as of a corpus of which
 * these turns are a part.
 */
function describeConceptVectors(count: number, isPart: boolean) {
  const all = [...new Set(memories.slice(0, count).flatMap(({ concepts }) => concepts))];
  const names = isPart ? ['elsewhere', ...all.reverse()] : all;
  // Those of near spellings are near.
  const rows = names.map((name) => {
    const [source, own] = [createRandom(1, name.slice(0, 4)), createRandom(1, name)];
    const raw = Array.from({ length: dimension }, () => source.drawNormal() + 0.3 * own.drawNormal());
    return raw.map((value) => value / Math.hypot(...raw));
  });
  return { names, vectors: Float32Array.from(rows.flat()), dimension };
}

/** An index over the first turns. */
function describeContext(count: number, graphs: KeptGraphs, isPart = false) {
  const corpus = new Corpus(turns.slice(0, count));
  const concepts = corpus.turns.map((_, position) => memories[position]!.concepts);
  const conceptVectors = describeConceptVectors(count, isPart);
  const given = { corpus, concepts, relations: relations.slice(0, count), conceptVectors, graphs };
  return { ...given, vectors: vectors.subarray(0, count * dimension), dimension, seed: 1 };
}

async function answer(index: GraphIndex, count: number, draw: number) {
  const source = createRandom(draw, 'questions');
  const positions = Int32Array.from({ length: 3 * Q }, () => source.integer(count));
  const rows = Array.from({ length: Q }, (_, query) => positions.subarray(3 * query, 3 * query + 3));
  const queries = {
    ...drawContractQueries(Q, count),
    texts: rows.map(([first]) => memories[first!]!.text),
    cutoffs: Int32Array.from(rows, (row) => 1 + Math.max(...row)),
    seeds: rows.map(([first]) => ({ positions: Int32Array.of(first!), weights: Float32Array.of(1) })),
  };
  return { found: await index.search(queries, 20), pairs: await index.scorePairs(queries, positions, 3) };
}

const OPTIONS = [
  { seeds: { titles: true, turnConcepts: true } },
  { seeds: { titles: true }, edges: { names: 0.5, next: 0 } },
  { scoring: 'hop-decay', specificity: 'both', edges: { alias: 1, cooccurrence: 0.5 } },
  { scoring: 'degree', edges: { similar: 1 }, similarAbove: 0.3 },
  { edges: { alias: 1, names: 0 }, aliasCosine: 0.6, aliasAbove: 0.9 },
  { edges: { relation: 1, similar: 0.5, alias: 0.5 }, aliasCosine: 0.8, concepts: { file: 'none' } },
].map((given) => graph.options.parse({ index: 'graph', ...given }));

test.each([
  [1, 7],
  [2, 0],
  [3, 1],
])('indexes that grew by batches find what new ones find (seed %i, %i turns first)', async (seed, begin) => {
  const source = createRandom(seed, 'batches');
  let count = begin;
  const grown = OPTIONS.map((options) => new GraphIndex(describeContext(count, new KeptGraphs()), options));
  for (; count < N; count = Math.min(N, count + 1 + source.integer(19))) {
    if (count === 0) continue;
    const shared = describeContext(count, new KeptGraphs(), source.uniform() < 0.5);
    await Promise.all(grown.map((index) => index.growWith(shared)));
    // Some are not asked for some time.
    const asked = grown.filter(() => source.uniform() < 0.7);
    const answers = await Promise.all(asked.map((index) => answer(index, count, count)));
    for (const [i, index] of asked.entries()) {
      const whole = new GraphIndex(describeContext(count, new KeptGraphs()), OPTIONS[grown.indexOf(index)]!);
      expect(answers[i]).toEqual(await answer(whole, count, count));
      whole.dispose();
    }
  }
  for (const index of grown) index.dispose();
});

test('an index that grows keeps its graph', async () => {
  const built = OPTIONS.map(async (options) => {
    const graphs = new KeptGraphs();
    const index = new GraphIndex(describeContext(50, graphs), options);
    await answer(index, 50, 1);
    const context = describeContext(N, graphs);
    await index.growWith(context);
    await answer(index, N, 1);
    return graphs;
  });
  expect((await Promise.all(built)).map(({ built }) => built)).toEqual(OPTIONS.map(() => 1));
});
