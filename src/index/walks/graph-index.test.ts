import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import type { QueryBatch, SeedTurns } from '../../model/candidates.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { type ContractCorpus, drawContractCorpus, readCandidateRow } from '../candidates/contract-sample.fixture.ts';
import type { GraphControl } from '../candidates/index-definition.ts';
import { EDGE_KINDS } from '../graph/concept-graph.ts';
import { GraphIndex } from './graph-index.ts';
import { type GraphIndexOptions, graph } from './graph-options.ts';

beforeAll(async () => void (await useBackend('wasm')));

const listWords = createTokeniser({ dropStopWords: false, stem: false });
const describeOptions = (given: object = {}): GraphIndexOptions => graph.options.parse({ index: 'graph', ...given });
const placeSeeds = (...positions: number[]): SeedTurns => ({
  positions: Int32Array.from(positions),
  weights: Float32Array.from(positions, (_, i) => 1 / (1 + i)),
});

function describeTurn(position: number, text: string, given: Partial<Turn> = {}): Turn {
  const nothing = { parentId: null, author: null, channel: null };
  return { id: `t${position}`, conversationId: `c${position}`, timestamp: position, text, ...nothing, ...given };
}

/** Every word is a concept, and joined to the next by a triple. */
function createIndex(
  turns: readonly Turn[],
  options: object,
  vectors: Float32Array = new Float32Array(0),
  dimension = 0,
) {
  const corpus = new Corpus(turns);
  const concepts = corpus.turns.map(({ text }) => listWords(text));
  const relations = concepts.map((words) => words.slice(1).flatMap((word, i) => [words[i] as string, word]));
  return new GraphIndex({ corpus, vectors, dimension, concepts, relations }, describeOptions(options), listWords);
}

function createContractIndex({ ids, texts, vectors, dimension }: ContractCorpus, options: object): GraphIndex {
  const turns = ids.map((id, position) => describeTurn(position, texts[position] as string, { id }));
  return createIndex(turns, options, vectors, dimension);
}

describe.each([
  { scoring: 'pagerank', specificity: 'both' },
  { solver: 'host', specificity: 'both' },
  { scoring: 'hop-decay', edges: { cooccurrence: 0.5 } },
  { scoring: 'degree' },
])('%j', (options) => {
  describeCandidateIndex('graph', (corpus) => createContractIndex(corpus, { tolerance: 1e-9, ...options }));
});

const WORDS = ['alps', 'rome', 'zama', 'cannae', 'elephants', 'romes', 'ships'];
const [N, CUTOFF] = [61, 37];
const sample = drawContractCorpus(N);
const turns = sample.ids.map((id, i) =>
  describeTurn(i, `${WORDS[i % 7]} ${WORDS[(i * i) % 5]} by the Road to ${WORDS[(i * 3) % 7]}`, {
    id,
    conversationId: `c${i % 4}`,
    parentId: i >= 4 && i % 3 > 0 ? (sample.ids[i - 4] as string) : null,
    attributes: i % 2 === 0 ? { title: `Road to ${WORDS[i % 7]}` } : {},
  }),
);
const batch: QueryBatch = {
  texts: ['rome', 'zama alps', 'nothing known'],
  vectors: new Float32Array(3 * sample.dimension),
  cutoffs: Int32Array.of(CUTOFF, CUTOFF - 8, CUTOFF),
  seeds: [placeSeeds(5, 20, 30), null, placeSeeds(9, 21, 50)],
};

async function searchTurns(given: readonly Turn[], options: object, queries = batch, k = 50) {
  const vectors = sample.vectors.subarray(0, given.length * sample.dimension);
  const index = createIndex(given, options, vectors, sample.dimension);
  try {
    const found = await index.search(queries, k);
    return queries.texts.map((_, query) => readCandidateRow(found, query));
  } finally {
    index.dispose();
  }
}

type FoundRow = ReturnType<typeof readCandidateRow>;

/** The same turns with the same scores; turns of nearly one score may change places. */
function expectSameScores(got: readonly FoundRow[], expected: readonly FoundRow[]): void {
  for (const [query, { positions, scores }] of expected.entries()) {
    const scoreOf = new Map(positions.map((position, i) => [position, scores[i]!]));
    const found = got[query]!;
    expect([...found.positions].sort()).toEqual([...positions].sort());
    for (const [i, position] of found.positions.entries())
      expect(found.scores[i], `query ${query}`).toBeCloseTo(scoreOf.get(position)!, 6);
  }
}

describe.each(['host', 'sparse-tensor', 'dense-tensor', 'auto'])('solver %s', (solver) => {
  test.each([true, false])(
    'finds what push finds, for queries of several moments (listed turns: %s)',
    async (listed) => {
      const cutoffs = Int32Array.from({ length: 23 }, (_, i) => CUTOFF - (i % 5));
      const odd = Int32Array.from(turns.keys()).filter((position) => position % 3 !== 1);
      const many: QueryBatch = {
        texts: Array.from(cutoffs, (_, i) => `${WORDS[i % 7]} ${WORDS[(i * 4) % 7]}`),
        vectors: new Float32Array(23 * sample.dimension),
        cutoffs,
        seeds: Array.from(cutoffs, (_, i) => (i % 4 === 0 ? null : placeSeeds(i, i + 7))),
        ...(listed && { visible: Array.from(cutoffs, (_, i) => (i % 2 === 0 ? odd : null)) }),
      };
      const options = { specificity: 'both', edges: { cooccurrence: 0.5 } };
      const exact = await searchTurns(turns, { ...options, tolerance: 1e-13 }, many);
      const found = await searchTurns(turns, { ...options, solver }, many);
      if (solver === 'auto') return expect(found).toEqual(await searchTurns(turns, options, many)); // few of each moment
      expectSameScores(found, exact);
      expect(found).toEqual(await searchTurns(turns, { ...options, solver }, many));
    },
  );
});

describe.each(['pagerank', 'hop-decay', 'degree'])('future turns change no score of %s', (scoring) => {
  test.each(EDGE_KINDS)('over edges of %s', async (kind) => {
    const none = Object.fromEntries(EDGE_KINDS.map((other) => [other, 0]));
    // Edges between concepts are reached through mentions alone.
    const mentions = kind === 'cooccurrence' || kind === 'alias' || kind === 'relation' ? 1 : 0;
    const edges = { ...none, mentions, [kind]: 1 };
    const concepts = kind === 'relation' ? { concepts: { file: 'of the context' } } : {};
    const options = { scoring, edges, ...concepts, similarAbove: 0.3, specificity: 'both' };
    const queries = { ...batch, seeds: [placeSeeds(5, 20, 30), null, placeSeeds(9, 21)] };
    const before = await searchTurns(turns.slice(0, CUTOFF), options, queries);
    expect(await searchTurns(turns, options, queries)).toEqual(before);
    const found = before.flatMap(({ positions }) => positions.filter((position) => position >= 0));
    expect(found.length).toBeGreaterThan(2);
  });
});

describe.each(['random-graph', 'shuffled-titles'] as const)('null control %s', (kind) => {
  const search = async (given: readonly Turn[], control?: GraphControl, rest: object = {}) => {
    const corpus = new Corpus(given);
    const concepts = corpus.turns.map(({ text }) => listWords(text));
    const context = { corpus, vectors: new Float32Array(0), dimension: 0, concepts, ...(control && { control }) };
    const queries = { ...batch, seeds: [placeSeeds(5, 20, 30), null, placeSeeds(9, 21)] };
    const options = describeOptions({ seeds: { titles: true }, specificity: 'both', ...rest });
    const index = new GraphIndex(context, options, listWords);
    const found = await index.search(queries, 50);
    index.dispose();
    return queries.texts.map((_, query) => readCandidateRow(found, query));
  };

  test('changes scores, by its seed, and reads no later turn', async () => {
    const drawn = await search(turns, { kind, seed: 1 });
    expect(drawn).not.toEqual(await search(turns));
    expect(drawn).not.toEqual(await search(turns, { kind, seed: 2 }));
    const before = await search(turns.slice(0, CUTOFF), { kind, seed: 1 });
    expect(drawn).toEqual(before);
  });

  test('is the same for every solver', async () => {
    const drawn = await search(turns, { kind, seed: 1 }, { tolerance: 1e-12 });
    expectSameScores(await search(turns, { kind, seed: 1 }, { solver: 'host', tolerance: 1e-12 }), drawn);
  });
});

test('hidden turns are as if they had never been', async () => {
  // Without a turn its conversation has another next turn.
  const options = { edges: { next: 0, cooccurrence: 0.5, alias: 0.4 }, specificity: 'both', tolerance: 1e-14 };
  const list = Int32Array.from(turns.keys()).filter((position) => position % 3 !== 1);
  const hidden = await searchTurns(turns, options, { ...batch, visible: [list, list, list] });
  const kept = Array.from(list, (position) => turns[position] as Turn);
  const ids = new Set(kept.map(({ id }) => id));
  const orphaned = kept.map((turn) => ({ ...turn, parentId: ids.has(turn.parentId ?? '') ? turn.parentId : null }));
  const localSeeds = (batch.seeds ?? []).map((seeds) => {
    if (seeds === null) return null;
    const seen = [...seeds.positions.keys()].filter((i) => list.includes(seeds.positions[i] as number));
    return {
      positions: Int32Array.from(seen, (i) => list.indexOf(seeds.positions[i] as number)),
      weights: Float32Array.from(seen, (i) => seeds.weights[i] as number),
    };
  });
  const cutoffs = batch.cutoffs.map((cutoff) => list.filter((position) => position < cutoff).length);
  const rebuilt = await searchTurns(orphaned, options, { ...batch, cutoffs, seeds: localSeeds });
  for (const [query, { positions, scores }] of rebuilt.entries()) {
    const scoreOf = new Map(positions.map((position, i) => [list[position] ?? -1, scores[i] as number]));
    const found = hidden[query] as (typeof hidden)[number];
    expect(found.positions.filter((position) => position >= 0).length).toBeGreaterThan(5);
    for (const [i, position] of found.positions.entries())
      expect(found.scores[i], `query ${query}`).toBeCloseTo(scoreOf.get(position) as number, 6);
  }
});

describe('seeds', () => {
  const lone = [
    describeTurn(0, 'rome'),
    describeTurn(1, 'zama'),
    describeTurn(2, 'rome alps'),
    describeTurn(3, 'alps ships'),
  ];
  const search = async (options: object, text: string, seeds: SeedTurns | null, cutoff = 4) => {
    const queries = { texts: [text], vectors: new Float32Array(0), cutoffs: Int32Array.of(cutoff), seeds: [seeds] };
    const found = await createIndex(lone, { tolerance: 1e-14, ...options }).search(queries, 4);
    return readCandidateRow(found, 0);
  };

  test('without seeds, and from seeds that the query may not see, nothing is found', async () => {
    expect((await search({}, 'unknown', null)).positions).toEqual([-1, -1, -1, -1]);
    expect((await search({}, 'unknown', placeSeeds(3), 3)).positions).toEqual([-1, -1, -1, -1]);
    expect((await search({ seeds: { concepts: false } }, 'rome', null)).positions).toEqual([-1, -1, -1, -1]);
    expect((await search({ seeds: { turns: 0 } }, 'unknown', placeSeeds(2))).positions).toEqual([-1, -1, -1, -1]);
    expect((await search({ edges: { mentions: 0 } }, 'rome', null)).positions).toEqual([-1, -1, -1, -1]);
  });

  test('a walk from a turn reaches the turns that share its concepts, the nearest with the highest scores', async () => {
    expect((await search({}, 'unknown', placeSeeds(0))).positions).toEqual([0, 2, 3, -1]);
    expect((await search({}, 'zama', null)).positions).toEqual([1, -1, -1, -1]);
  });

  test('the concepts of a batch are taken for those of its texts', async () => {
    const index = createIndex(lone, {});
    const queries = { texts: ['rome', 'rome'], vectors: new Float32Array(0), cutoffs: Int32Array.of(4, 4) };
    const found = await index.search({ ...queries, concepts: [['zama'], []] }, 2);
    expect([0, 1].map((query) => readCandidateRow(found, query).positions)).toEqual([
      [1, -1],
      [-1, -1],
    ]);
    await expect(index.search({ ...queries, concepts: [['zama']] }, 2)).rejects.toThrow(
      /^concepts of a query batch: .*2.*1/,
    );
  });

  test('a spelling that no visible turn has stands for the earlier spellings, and walks pass from one to another', async () => {
    const named = ['ann davis', 'ann b. davis', 'ann c. davis'].map((text, i) => describeTurn(i, text));
    const corpus = new Corpus(named);
    const concepts = corpus.turns.map(({ text }) => [text]);
    const find = async (text: string, cutoff: number, options: object, visible?: number[]) => {
      const index = new GraphIndex(
        { corpus, vectors: new Float32Array(0), dimension: 0, concepts },
        describeOptions(options),
      );
      const lists = visible && { visible: [Int32Array.from(visible)] };
      const queries = { texts: [text], concepts: [[text]], vectors: new Float32Array(0), ...lists };
      return [...(await index.search({ ...queries, cutoffs: Int32Array.of(cutoff) }, 3)).positions];
    };
    const joined = { edges: { alias: 1 } };
    expect(await find('ann b. davis', 1, {})).toEqual([-1, -1, -1]);
    expect(await find('ann b. davis', 1, joined)).toEqual([0, -1, -1]);
    expect(await find('ann b. davis', 2, {})).toEqual([1, -1, -1]);
    expect(await find('ann b. davis', 2, joined)).toEqual([1, 0, -1]);
    // b and c are joined over the name without an initial, which they cannot see.
    expect(await find('ann b. davis', 3, joined)).toEqual([1, 0, 2]);
    expect(await find('ann b. davis', 3, joined, [1, 2])).toEqual([1, -1, -1]);
    expect(await find('ann davis', 3, joined, [1, 2])).toEqual([2, 1, -1]);
  });

  test('where a file has the concepts of turns, a query finds those of its visible spellings, and no walk joins them', async () => {
    const corpus = new Corpus([0, 1].map((i) => describeTurn(i, 'nothing')));
    const concepts = [['ann b. davis'], ['ann c. davis']];
    const find = async (options: object, cutoff: number, seeds: SeedTurns | null = null) => {
      const context = { corpus, vectors: new Float32Array(0), dimension: 0, concepts };
      const index = new GraphIndex(context, describeOptions(options));
      const queries = { texts: ['Where did Ann Davis go?'], vectors: new Float32Array(0), seeds: [seeds] };
      return readCandidateRow(await index.search({ ...queries, cutoffs: Int32Array.of(cutoff) }, 2), 0).positions;
    };
    const fromFile = { concepts: { file: 'of the context' } };
    expect(await find({ concepts: 'phrases' }, 2)).toEqual([-1, -1]);
    expect((await find(fromFile, 2)).toSorted()).toEqual([0, 1]);
    expect(await find(fromFile, 1)).toEqual([0, -1]);
    expect(await find({ ...fromFile, seeds: { concepts: false } }, 2, placeSeeds(0))).toEqual([0, -1]);
  });

  test('edges of relations need triples', async () => {
    expect(() => describeOptions({ edges: { relation: 1 } })).toThrow(/0 without triples; set concepts/);
    const context = {
      corpus: new Corpus(lone),
      vectors: new Float32Array(0),
      dimension: 0,
      concepts: lone.map(() => []),
    };
    const index = new GraphIndex(context, describeOptions({ concepts: { file: 'none' }, edges: { relation: 1 } }));
    const queries = { texts: ['rome'], vectors: new Float32Array(0), cutoffs: Int32Array.of(1) };
    await expect(index.search(queries, 1)).rejects.toThrow(
      /no triples given; set concepts: \{ file \}, or edges.relation: 0$/,
    );
  });

  test('forms whose vectors are near are spellings too, unless their numbers differ, as of the earlier forms', async () => {
    const named = ['car', 'automobile', 'car 2', 'vehicle'].map((text, i) => describeTurn(i, text));
    const conceptVectors = {
      names: ['vehicle', 'car 2', 'automobile', 'car'],
      vectors: Float32Array.of(0.8, 0.6, 1, 0, 1, 0, 1, 0),
      dimension: 2,
    };
    const find = async (options: object, turns = named, given: object = { conceptVectors }) => {
      const corpus = new Corpus(turns);
      const concepts = corpus.turns.map(({ text }) => [text]);
      const context = { corpus, vectors: new Float32Array(0), dimension: 0, concepts, ...given };
      const index = new GraphIndex(context, describeOptions(options));
      const queries = { texts: ['car'], concepts: [['car']], vectors: new Float32Array(0) };
      const found = await index.search({ ...queries, cutoffs: Int32Array.of(Math.min(3, turns.length)) }, 3);
      return readCandidateRow(found, 0);
    };
    const near = { edges: { alias: 1 }, aliasCosine: 0.9 };
    expect((await find({ edges: { alias: 1 } })).positions).toEqual([0, -1, -1]);
    expect((await find({ aliasCosine: 0.9 })).positions).toEqual([0, -1, -1]);
    expect((await find(near)).positions).toEqual([0, 1, -1]);
    expect(await find(near, named.slice(0, 3))).toEqual(await find(near));
    await expect(find(near, named, {})).rejects.toThrow(/none given; pass conceptVectors, or aliasCosine: null$/);
  });

  test('concepts of the query weigh by their specificity, turns by passageWeight', async () => {
    // Hops alone: a turn has its weight as a seed, and a concept gives a turn half of its own.
    const hops = { scoring: 'hop-decay', decay: 0.5, maxHops: 1, passageWeight: 0.25 };
    const { positions, scores } = await search(hops, 'zama rome', placeSeeds(0, 3));
    const total = 0.25 + 0.125 + 1 + 0.5;
    const expected = new Map([
      [0, (0.25 + 0.5 * 0.5) / total],
      [1, 0.5 / total],
      [2, (0.5 * 0.5) / total],
      [3, 0.125 / total],
    ]);
    expect([...positions].sort()).toEqual([0, 1, 2, 3]);
    for (const [i, position] of positions.entries()) expect(scores[i]).toBeCloseTo(expected.get(position) as number, 6);
    const plain = await search({ ...hops, specificity: 'none' }, 'zama rome', null);
    expect(plain.scores.filter((score) => score > 0)).toEqual([0.25, 0.25, 0.25]);
  });

  test('the concepts of seed turns are seeds where turnConcepts asks for them', async () => {
    const hops = { scoring: 'hop-decay', decay: 0.5, maxHops: 1, passageWeight: 0 };
    expect((await search(hops, 'unknown', placeSeeds(0))).positions).toEqual([-1, -1, -1, -1]);
    const found = await search({ ...hops, seeds: { turnConcepts: true } }, 'unknown', placeSeeds(0));
    expect(found.positions).toEqual([2, 0, -1, -1]);
  });

  test('the turns whose titles the query holds are seeds where titles asks for them', async () => {
    const titled = ['Road to Rome', 'Rome', 'Rome', 'Alps (range)'].map((title, i) =>
      describeTurn(i, 'nothing', { attributes: { title } }),
    );
    const hops = { scoring: 'hop-decay', maxHops: 0, edges: { mentions: 0, names: 0 } };
    const ask = async (titles: boolean, cutoff: number) => {
      const queries = { texts: ['who took the road to Rome over the alps'], vectors: new Float32Array(0) };
      const index = createIndex(titled, { ...hops, seeds: { titles, concepts: false } });
      const { positions, scores } = readCandidateRow(
        await index.search({ ...queries, cutoffs: Int32Array.of(cutoff) }, 4),
        0,
      );
      return Object.fromEntries(positions.map((position, i) => [position, scores[i]!.toFixed(4)]));
    };
    expect(await ask(false, 4)).toEqual({ '-1': '0.0000' });
    expect(await ask(true, 4)).toEqual({ 0: '0.3333', 1: '0.1667', 2: '0.1667', 3: '0.3333' });
    expect(await ask(true, 2)).toEqual({ 0: '0.5000', 1: '0.5000', '-1': '0.0000' });
  });

  test('only the best seed turns are taken', async () => {
    const options = { seeds: { turns: 1 }, edges: { mentions: 0 } };
    expect((await search(options, 'unknown', placeSeeds(1, 2))).positions).toEqual([1, -1, -1, -1]);
  });

  test('seeds outside the corpus, with a weight below 0 or of another number are refused', async () => {
    await expect(search({}, 'rome', placeSeeds(4))).rejects.toThrow(/^seed of query 0 is outside the corpus of 4: 4; /);
    const negative = { positions: Int32Array.of(1), weights: Float32Array.of(-1) };
    await expect(search({}, 'rome', negative)).rejects.toThrow(/^weight of a seed of query 0 is negative .*: -1; /);
    const short = { positions: Int32Array.of(1, 2), weights: Float32Array.of(1) };
    await expect(search({}, 'rome', short)).rejects.toThrow(DimensionMismatchError);
    const none = { texts: ['rome'], vectors: new Float32Array(0), cutoffs: Int32Array.of(4), seeds: [] };
    await expect(createIndex(lone, {}).search(none, 3)).rejects.toThrow(DimensionMismatchError);
  });
});

test('similar turns have an edge where their cosine is at least similarAbove', async () => {
  const vectors = Float32Array.of(1, 0, 0.6, 0.8, 0, 1);
  const apart = ['one', 'two', 'three'].map((text, i) => describeTurn(i, text));
  const reach = async (similarAbove: number) => {
    const index = createIndex(apart, { edges: { similar: 1 }, similarAbove }, vectors, 2);
    const queries = { texts: ['none'], vectors: Float32Array.of(0, 0), cutoffs: Int32Array.of(3) };
    return (await index.search({ ...queries, seeds: [placeSeeds(0)] }, 3)).positions;
  };
  expect([...(await reach(0.5))]).toEqual([0, 1, 2]);
  expect([...(await reach(0.61))]).toEqual([0, -1, -1]);
});

test('a search lets events in, and a disposed index throws', async () => {
  const index = createIndex(turns, {});
  const many = { texts: Array(19).fill('rome'), vectors: new Float32Array(0), cutoffs: new Int32Array(19).fill(N) };
  await expectEventsLetIn((slowly) => index.search(many, 5, slowly));
  index.dispose();
  await expect(index.search(batch, 5)).rejects.toThrow(ValidationError);
});
