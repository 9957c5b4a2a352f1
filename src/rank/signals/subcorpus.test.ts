import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { DIMENSION, drawSampleWorld } from './corpus.fixture.ts';
import {
  buildWarmUpBatch,
  listAskedConversations,
  mapLocalRows,
  Subcorpora,
  type Subcorpus,
  selectScopeVectors,
} from './subcorpus.ts';

const world = drawSampleWorld(3, 61, 11, 3);
const corpus = new Corpus(world.turns);
/** Every third query asks the whole corpus, the others a conversation each. */
const queries = world.queries.map(
  (query, i): Query => (i % 3 === 0 ? query : { ...query, conversationId: query.cluster }),
);
const batch: QueryBatch = {
  texts: queries.map(({ text }) => text),
  vectors: Float32Array.from(queries.flatMap(({ id }) => [...(world.vectorOf.get(id) as Float32Array)])),
  cutoffs: Int32Array.from(queries, ({ timestamp }) => world.turns.filter((turn) => turn.timestamp < timestamp).length),
  conversations: listAskedConversations(corpus, queries),
};

test('conversations are identified by their places, and -1 is the whole corpus', () => {
  const asked = Array.from(batch.conversations ?? [], (queryRow) => corpus.conversations[queryRow]?.id);
  expect(asked).toEqual(queries.map(({ conversationId }) => conversationId));
  const unknown = queries.map((query) => ({ ...query, conversationId: 'c99' }));
  expect(() => listAskedConversations(corpus, unknown)).toThrow(
    new ValidationError('corpus has no conversation: c99; use the id of one of its conversations', {
      conversationId: 'c99',
    }),
  );
});

describe('a batch in parts', () => {
  const subcorpora = new Subcorpora(corpus);
  const parts = subcorpora.split(batch);

  test('has every query once, with those that ask the same, in the order of the first', () => {
    expect(parts.flatMap(({ queryIndexes: queryRows }) => queryRows).sort((a, b) => a - b)).toEqual([
      ...queries.keys(),
    ]);
    const firsts = parts.map(({ queryIndexes: queryRows }) => queryRows[0]);
    expect(firsts).toEqual(firsts.toSorted((a, b) => (a as number) - (b as number)));
    for (const { subcorpus, queryIndexes: queryRows } of parts)
      for (const queryRow of queryRows)
        expect(queries[queryRow]?.conversationId ?? null).toBe(subcorpus.conversationId);
    expect(parts.length).toBeGreaterThan(2);
  });

  test.each(parts.map((part) => [part.subcorpus.conversationId, part] as const))(
    'sees the turns of %s alone, as of the same moments',
    (id, part) => {
      const { subcorpus, queryIndexes: queryRows, batch: local } = part;
      const turns = corpus.turns.filter(({ conversationId }) => id === null || conversationId === id);
      expect(subcorpus.corpus.turns).toEqual(turns);
      expect(Array.from(subcorpus.positions, (position) => corpus.turns[position])).toEqual(turns);
      for (const [row, queryRow] of queryRows.entries()) {
        const query = queries[queryRow] as Query;
        expect(local.texts[row]).toBe(query.text);
        expect(local.cutoffs[row]).toBe(turns.filter(({ timestamp }) => timestamp < query.timestamp).length);
        expect(local.vectors.subarray(row * DIMENSION, (row + 1) * DIMENSION)).toEqual(world.vectorOf.get(query.id));
      }
    },
  );

  test('makes each subcorpus once', () => {
    expect(subcorpora.split(batch).map(({ subcorpus }) => subcorpus)).toEqual(parts.map(({ subcorpus }) => subcorpus));
    for (const [i, { subcorpus }] of subcorpora.split(batch).entries()) expect(subcorpus).toBe(parts[i]?.subcorpus);
  });

  test('is the batch itself where all ask the whole corpus', () => {
    const { conversations: _, ...unscoped } = batch;
    const [part, ...others] = subcorpora.split(unscoped);
    expect(others).toEqual([]);
    expect(part?.batch).toBe(unscoped);
    expect(part?.subcorpus.corpus).toBe(corpus);
    expect(subcorpora.split({ ...batch, conversations: batch.cutoffs.map(() => -1) })).toHaveLength(1);
  });

  test('has rows of a pool and vectors by the positions of its turns', () => {
    const vectors = Float32Array.from(corpus.turns.keys()).map((position) => 3 * position);
    for (const { subcorpus, queryIndexes: queryRows } of parts) {
      expect([...selectScopeVectors(subcorpus, vectors, 1)]).toEqual(
        Array.from(subcorpus.positions, (position) => 3 * position),
      );
      const width = 5;
      const positions = new Int32Array(queries.length * width).fill(-1);
      for (const queryRow of queryRows)
        positions.set(subcorpus.positions.slice(queryRow % 3, (queryRow % 3) + 4), queryRow * width);
      const local = mapLocalRows(subcorpus, { queryCount: queries.length, width, positions }, queryRows);
      const back = Array.from(local, (position) => (position < 0 ? -1 : subcorpus.positions[position]));
      expect(back).toEqual(
        queryRows.flatMap((queryRow) => [...positions.subarray(queryRow * width, (queryRow + 1) * width)]),
      );
    }
  });
});

test('nothing is asked of each subcorpus as of its earliest query', () => {
  const nothing = buildWarmUpBatch(new Subcorpora(corpus), batch);
  const earliest = new Map<number, number>();
  for (const [queryRow, conversation] of (batch.conversations as Int32Array).entries())
    earliest.set(
      conversation,
      Math.min(earliest.get(conversation) ?? Number.POSITIVE_INFINITY, batch.cutoffs[queryRow] as number),
    );
  expect([...(nothing.conversations as Int32Array)]).toEqual([...earliest.keys()]);
  expect([...nothing.cutoffs]).toEqual([...earliest.values()]);
  expect(nothing.texts.every((text) => text === '')).toBe(true);
  expect(nothing.vectors).toEqual(new Float32Array(earliest.size * DIMENSION));
});

test('what is made of the same turns is moved to another corpus, grows with later ones, and is disposed where others changed', async () => {
  const corpus = new Corpus(drawSampleWorld(3, 61, 11, 4).turns);
  const [same, longer, changed, gone] = corpus.conversations.map(({ id }) => id);
  const subcorpora = new Subcorpora(corpus);
  const find = (of: Subcorpora, all: Corpus, conversationId: string | undefined) => {
    const conversation = all.conversations.findIndex(({ id }) => id === conversationId);
    const [part] = of.split({ ...batch, cutoffs: Int32Array.of(0), conversations: Int32Array.of(conversation) });
    return part!.subcorpus;
  };
  const freed: string[] = [];
  const keep = (subcorpus: Subcorpus, state: string) => {
    const name = `${subcorpus.conversationId} ${state}`;
    const make = () => ({ name, dispose: () => void freed.push(name) });
    return subcorpus.keepOnce('part', make, (earlier) => ({ ...earlier, name: `${earlier.name}, longer` }));
  };
  for (const id of [undefined, same, longer, changed, gone]) await keep(find(subcorpora, corpus, id), 'first');

  const later = { ...corpus.turns.at(-1)!, id: 'later', conversationId: longer!, parentId: null };
  const turns = corpus.turns.filter(({ conversationId }) => conversationId !== gone);
  const place = turns.findIndex(({ conversationId }) => conversationId === changed);
  turns[place] = { ...turns[place]!, text: 'something else' };
  const next = new Corpus([...turns, { ...later, timestamp: later.timestamp + 1 }], { like: corpus });
  const moved = subcorpora.moveTo(next);
  expect(freed.sort()).toEqual(['null first', `${changed} first`, `${gone} first`].sort());
  const names: string[] = [];
  for (const id of [undefined, same, longer, changed]) {
    const subcorpus = find(moved, next, id);
    expect(subcorpus.corpus.turns).toEqual(
      next.turns.filter(({ conversationId }) => (id ?? conversationId) === conversationId),
    );
    expect(Array.from(subcorpus.positions, (position) => next.turns[position])).toEqual(subcorpus.corpus.turns);
    names.push((await keep(subcorpus, 'second')).name);
  }
  expect(names).toEqual(['null second', `${same} first`, `${longer} first, longer`, `${changed} second`]);
  moved.dispose();
  expect(freed).toHaveLength(7);
});
