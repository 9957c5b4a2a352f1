import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createThreadsWorkspace, drawSampleThreads } from '../signals/bank/threads.fixture.ts';
import { buildNewestPool, drawSamplePool } from '../signals/columns.harness.ts';
import { listTurnConcepts } from '../signals/concept-list.ts';
import type { SampleWorld } from '../signals/corpus.fixture.ts';
import { turnConcepts } from '../signals/turn-concepts.ts';
import { type MentionsAmong, mentionsSignal } from './mentions.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleThreads(3, 37, 7);

/** The share of `others` that mention each concept of a turn, averaged, by counting. */
function average(own: ReadonlySet<string>, others: readonly ReadonlySet<string>[]): number {
  if (own.size === 0 || others.length === 0) return 0;
  const shares = [...own].map((concept) => others.filter((other) => other.has(concept)).length / others.length);
  return shares.reduce((sum, share) => sum + share, 0) / own.size;
}

async function computeColumn(of: SampleWorld, among: MentionsAmong) {
  const workspace = createThreadsWorkspace(of);
  try {
    const pool = await buildNewestPool(workspace, 61);
    const concepts = listTurnConcepts(await workspace.get(turnConcepts('names'))).map((names) => new Set(names));
    const column = await workspace.get(mentionsSignal(among), pool);
    return { pool, column, concepts, queries: workspace.queries, corpus: workspace.corpus, batch: workspace.batch };
  } finally {
    workspace.dispose();
  }
}

test('the mentions among candidates are counted in each row', async () => {
  const workspace = createThreadsWorkspace(world);
  const pool = await drawSamplePool(workspace);
  const concepts = listTurnConcepts(await workspace.get(turnConcepts('names'))).map((names) => new Set(names));
  const column = await workspace.get(mentionsSignal('candidates'), pool);
  workspace.dispose();
  for (let query = 0; query < pool.queryCount; query++) {
    const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
    for (const [i, position] of row.entries()) {
      const others = [...row].filter((other) => other >= 0 && other !== position).map((other) => concepts[other]!);
      const expected = position < 0 ? 0 : average(concepts[position]!, others);
      expect(column[query * pool.width + i]).toBeCloseTo(expected, 6);
    }
  }
  expect(new Set(column).size).toBeGreaterThan(5);
});

describe('the mentions among turns', () => {
  test('are those of the turns that the query may see', async () => {
    const { pool, column, concepts, queries, corpus, batch } = await computeColumn(world, 'turns');
    for (const [pair, position] of pool.positions.entries()) {
      const query = Math.floor(pair / pool.width);
      const asked = queries[query]?.conversationId;
      const seen = corpus.turns.flatMap(({ conversationId }, other) =>
        other < (batch.cutoffs[query] as number) &&
        other !== position &&
        (asked === undefined || conversationId === asked)
          ? [concepts[other]!]
          : [],
      );
      const expected = position < 0 ? 0 : average(concepts[position]!, seen);
      expect(column[pair]).toBeCloseTo(expected, 6);
    }
    expect(new Set(column).size).toBeGreaterThan(5);
  });

  test('do not change with later turns', async () => {
    const query = world.queries.find(({ conversationId }) => conversationId === undefined)!;
    const turns = world.turns.filter(({ timestamp }) => timestamp < query.timestamp);
    const read = async (of: SampleWorld) => {
      const { pool, column, queries } = await computeColumn(of, 'turns');
      const place = queries.findIndex(({ id }) => id === query.id);
      return [...column.subarray(place * pool.width, place * pool.width + turns.length)];
    };
    expect(await read(world)).toEqual(await read({ ...world, turns, queries: [query] }));
  });
});
