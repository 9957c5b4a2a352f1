import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { assertAdmissible } from '../../index/candidates/query-batch.ts';
import { createIndex, type IndexOptions, indexOptions } from '../../index/registry.ts';
import { FlatIndex } from '../../index/vectors/flat.ts';
import type { CandidateIndex, QueryBatch } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/options.ts';
import { type PropagatedVersions, propagateVersions } from '../../ops/attention/versioned-propagation.ts';
import { DIMENSION, drawSampleWorld } from './corpus.fixture.ts';
import { createSubcorpusIndex, listAskedConversations, Subcorpora } from './subcorpus.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(5, 97, 23, 3);
const queries = world.queries.map((query, i) => (i % 4 === 0 ? query : { ...query, conversationId: query.cluster }));
const corpus = new Corpus(world.turns);
const subcorpora = new Subcorpora(corpus);
const seed = 5;
const k = 7;

const concatOwnerVectors = (owners: readonly { readonly id: string }[]) =>
  Float32Array.from(owners.flatMap(({ id }) => [...(world.vectorOf.get(id) as Float32Array)]));
const listCutoffsIn = (turns: readonly { readonly timestamp: number }[], asking: typeof queries) =>
  Int32Array.from(asking, (query) => turns.filter(({ timestamp }) => timestamp < query.timestamp).length);
const batch: QueryBatch = {
  texts: queries.map(({ text }) => text),
  vectors: concatOwnerVectors(queries),
  cutoffs: listCutoffsIn(world.turns, queries),
  conversations: listAskedConversations(corpus, queries),
};
const context = { vectors: concatOwnerVectors(corpus.turns), dimension: DIMENSION, seed };

type MakeAlone = (
  alone: Corpus,
  vectors: Float32Array,
  cutoffs: Int32Array,
) => CandidateIndex | Promise<CandidateIndex>;
interface Case {
  readonly options: IndexOptions;
  /** Rows of the whole corpus that the scoped index searches. */
  readonly rows?: () => Promise<PropagatedVersions>;
  /** The index over a conversation as if there were no other. */
  readonly alone: MakeAlone;
}
const parseIndexOptions = (options: object) => indexOptions.parse({ k, ...options });
const buildPlainCase = (options: IndexOptions): Case => {
  return {
    options,
    alone: (own, vectors) => createIndex(options, { corpus: own, vectors, dimension: DIMENSION, seed }),
  };
};
const buildPropagatedCase = (preset: keyof typeof PROPAGATION_PRESETS): Case => ({
  options: parseIndexOptions({ index: 'flat' }),
  rows: () => propagateVersions(corpus, context.vectors, batch.cutoffs, PROPAGATION_PRESETS[preset]),
  alone: async (own, vectors, cutoffs) => {
    const rows = await propagateVersions(own, vectors, cutoffs, PROPAGATION_PRESETS[preset]);
    const ids = own.turns.map(({ id }) => id);
    return new FlatIndex(ids, { ...rows, dimension: DIMENSION });
  },
});

/** What a query that asks one conversation, or none, should find by turn, best first. */
async function searchScopesAlone({ alone }: Case): Promise<Map<string, readonly (readonly [string, number])[]>> {
  const answers = new Map<string, readonly (readonly [string, number])[]>();
  for (const asked of new Set(queries.map(({ conversationId }) => conversationId))) {
    const asking = queries.filter(({ conversationId }) => conversationId === asked);
    const own = new Corpus(world.turns.filter(({ conversationId }) => asked === undefined || conversationId === asked));
    const cutoffs = listCutoffsIn(own.turns, asking);
    const index = await alone(own, concatOwnerVectors(own.turns), cutoffs);
    const texts = asking.map(({ text }) => text);
    const { positions, scores } = await index.search({ texts, vectors: concatOwnerVectors(asking), cutoffs }, k);
    index.dispose();
    for (const [q, { id }] of asking.entries()) {
      const row = Array.from(positions.subarray(q * k, (q + 1) * k), (position, i) => {
        return [own.turns[position]?.id ?? '', scores[q * k + i] as number] as const;
      });
      answers.set(id, row);
    }
  }
  return answers;
}

const cases: readonly (readonly [string, Case])[] = [
  ['bm25', buildPlainCase(parseIndexOptions({ index: 'bm25' }))],
  ['newest', buildPlainCase(parseIndexOptions({ index: 'newest' }))],
  ['flat', buildPlainCase(parseIndexOptions({ index: 'flat' }))],
  ['hnsw', buildPlainCase(parseIndexOptions({ index: 'hnsw', m: 5, efConstruction: 31, efSearch: 31 }))],
  ['flat, propagated as published', buildPropagatedCase('published')],
  ['flat, propagated as the framework does', buildPropagatedCase('framework')],
];

/** Three lists of every other, third and fifth turn; queries share them, and some have none. */
function buildVisibleLists(): (Int32Array | null)[] {
  const lists = [2, 3, 5].map((step) =>
    Int32Array.from(corpus.turns.keys()).filter((position) => position % step === 1),
  );
  return queries.map((_, q) => lists[q % 4] ?? null);
}

describe.each(cases)('%s', (name, one) => {
  test('finds in a conversation what its list leaves of what it finds without one', async () => {
    const index = await createSubcorpusIndex(one.options, subcorpora, context, (await one.rows?.()) ?? null);
    const visible = buildVisibleLists();
    const found = await index.search({ ...batch, visible }, k);
    assertAdmissible(found, { ...batch, visible }, corpus);
    const all = await index.search(batch, corpus.size);
    index.dispose();
    for (const [q, list] of visible.entries()) {
      const seen = (position: number) => position >= 0 && (list === null || list.includes(position));
      const row = [...all.positions.subarray(q * all.width, (q + 1) * all.width)];
      const expected = row.flatMap((position, i) => (seen(position) ? [all.scores[q * all.width + i] as number] : []));
      const count = Math.min(k, expected.length);
      const positions = [...found.positions.subarray(q * k, (q + 1) * k)];
      expect(positions.filter((position) => position >= 0).length, `query ${q}`).toBe(count);
      if (name === 'newest') expect(positions.slice(0, count)).toEqual(row.filter(seen).slice(0, k));
      else for (let i = 0; i < count; i++) expect(found.scores[q * k + i]).toBeCloseTo(expected[i] as number, 5);
    }
  });

  test('finds in a conversation what an index over it alone finds, beside queries that ask everything', async () => {
    const before = tf.memory().numTensors;
    const index = await createSubcorpusIndex(one.options, subcorpora, context, (await one.rows?.()) ?? null);
    const { positions, scores, width } = await index.search(batch, k);
    expect(width).toBe(k);
    for (const [id, expected] of await searchScopesAlone(one)) {
      const q = queries.findIndex((query) => query.id === id);
      for (const [i, [turn, score]] of expected.entries()) {
        expect(corpus.turns[positions[q * k + i] as number]?.id ?? '', `place ${i} of ${id}`).toBe(turn);
        expect(scores[q * k + i]).toBeCloseTo(score, 5);
      }
    }
    index.dispose();
    expect(tf.memory().numTensors).toBe(before);
    await expect(index.search(batch, k)).rejects.toThrow(
      new ValidationError(`index was disposed: ${one.options.index}; build a new index`),
    );
  });
});

test('a list that does not ascend is refused for what it is, whatever the query asks', async () => {
  const index = await createSubcorpusIndex(parseIndexOptions({ index: 'newest' }), subcorpora, context);
  const visible = queries.map(() => Int32Array.of(3, 1));
  await expect(index.search({ ...batch, visible }, k)).rejects.toThrow(/^visible turns of query 0 do not ascend: 1 /);
});

test('queries of a conversation that share a list share its part of the conversation', () => {
  const visible = buildVisibleLists();
  for (const { subcorpus, queryIndexes, batch: local } of subcorpora.split({ ...batch, visible })) {
    const lists = new Map<Int32Array | null, Int32Array | null>();
    for (const [row, q] of queryIndexes.entries()) {
      const [list, part] = [visible[q] as Int32Array | null, local.visible?.[row] as Int32Array | null];
      if (lists.has(list)) expect(part).toBe(lists.get(list));
      lists.set(list, part);
      const expected = list && [...list].filter((position) => subcorpus.positions.includes(position));
      expect(part && Array.from(part, (place) => subcorpus.positions[place])).toEqual(expected);
    }
  }
});

test('progress is one stage of all queries, however many conversations they ask', async () => {
  const stages: [string, number, number[], string | undefined][] = [];
  const startProgress: StartProgress = (stage, total) => {
    const seen: number[] = [];
    return {
      update: (done) => void seen.push(done),
      finish: (remark) => void stages.push([stage, total, seen, remark]),
    };
  };
  const index = await createSubcorpusIndex(parseIndexOptions({ index: 'bm25' }), subcorpora, context);
  await index.search(batch, k, startProgress);
  index.dispose();
  const parts = subcorpora.split(batch).length;
  expect(parts).toBeGreaterThan(2);
  expect(stages).toHaveLength(1);
  const [stage, total, seen, remark] = stages[0] as (typeof stages)[number];
  expect([stage, total, remark]).toEqual(['bm25', queries.length, `${queries.length} queries of ${parts} subcorpora`]);
  expect(seen).toHaveLength(parts);
  expect(seen.at(-1)).toBe(queries.length);
});
