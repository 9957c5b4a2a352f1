import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { type IndexOptions, indexOptions } from '../../index/registry.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { Plan } from '../signals/plan.ts';
import { parseArm, poolOfArm, SAMPLE_ARMS, SAMPLE_STEPS } from './arms.fixture.ts';
import { candidatesFrom, findPool, poolRows } from './candidate-sources.ts';
import { listQueryVariables, listVisibleTurns, SAME_CHANNEL } from './query-filter.ts';
import { retrieve } from './retriever.ts';
import type { RankOptions, WrittenSteps } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));

/** Turns with an attribute, most of which a selective filter refuses. */
const drawn = drawSampleWorld(3);
const world = {
  ...drawn,
  turns: drawn.turns.map((turn, i) => ({
    ...turn,
    attributes: { outcome: i % 5, ...(i % 3 === 0 && { kind: 'fact' }) },
  })),
};
const corpus = new Corpus(world.turns);
const { queries } = world;

const { search, fuse } = SAMPLE_STEPS.hybrid as Readonly<Record<'search' | 'fuse', object>>;

/** The sample arm `hybrid` with a filter before its search, or after it. */
const filterBefore = (filter: unknown) => parseArm({ filter, search, fuse });
const filterAfter = (filter: unknown) => parseArm({ search, filter, fuse });

describe('a filter of an arm', () => {
  test('is a text or a tree, and is resolved to one text, wherever it stands', () => {
    const resolved = "kind = 'fact' and outcome > 1";
    const of = [
      { op: '=', field: 'kind', value: 'fact' },
      { op: '>', field: 'outcome', value: 1 },
    ];
    for (const written of [`kind="fact" AND (outcome>1)`, { op: 'and', of }, resolved])
      for (const arm of [filterBefore(written), filterAfter(written)])
        expect((arm as unknown as WrittenSteps).filter).toBe(resolved);
    expect(Object.keys(SAMPLE_ARMS.hybrid)).not.toContain('filter');
  });

  test.each<[unknown, string]>([
    [
      "kind = 'fact' adn outcome > 1",
      'filter: expected a filter with and, or, or the end of the text at line 1, column 15, not adn (did you mean and?)',
    ],
    [
      'kind = fact',
      "filter: expected a filter with a string, a number, true, false, null or a variable at line 1, column 8, not fact (put a string in quotes: 'fact')",
    ],
    [{ op: 'not', of: { op: 'exists' } }, 'filter: expected a filter with string at of.field, not nothing'],
  ])('that is wrong is an error with the place: %j', (filter, message) => {
    expect(() => filterBefore(filter)).toThrow(ConfigurationError);
    expect(() => filterBefore(filter)).toThrow(message);
  });
});

describe('before the search', () => {
  const where = "kind = 'fact' and (channel = $query.channel or outcome >= 3)";

  /** By the rule, turn by turn. */
  const accepts = (query: number, position: number) => {
    const { attributes = {}, channel } = corpus.turns[position]!;
    const isGood = Number(attributes.outcome) >= 3;
    return attributes.kind === 'fact' && (channel === queries[query]?.channel || isGood);
  };

  test.each<IndexOptions>([
    { index: 'flat', k: 7 },
    { index: 'newest', k: 7 },
    indexOptions.parse({ index: 'hnsw', k: 7 }),
  ])('$index finds as many accepted turns as there are, up to k', async (index) => {
    const workspace = createSampleWorkspace(world);
    try {
      const { positions, width } = await workspace.get(candidatesFrom(index, null, where));
      for (const [query, { timestamp }] of queries.entries()) {
        const found = [...positions.subarray(query * width, (query + 1) * width)].filter((position) => position >= 0);
        const earlier = [...corpus.turns.keys()].slice(0, corpus.countEarlierTurns(timestamp));
        const accepted = earlier.filter((position) => accepts(query, position));
        expect(found).toHaveLength(Math.min(7, accepted.length));
        expect(found.filter((position) => !accepted.includes(position))).toEqual([]);
      }
    } finally {
      workspace.dispose();
    }
  });

  test('bm25 finds accepted turns alone, and a ranking holds no other', async () => {
    const workspace = createSampleWorkspace(world);
    try {
      const { pool } = await retrieve(workspace, filterBefore(where));
      const refused = [...pool.positions].filter(
        (position, rank) => position >= 0 && !accepts(Math.floor(rank / pool.width), position),
      );
      expect(refused).toEqual([]);
      expect([...pool.positions].some((position) => position >= 0)).toBe(true);
    } finally {
      workspace.dispose();
    }
  });

  test('a part of the queries finds the same', async () => {
    const workspace = createSampleWorkspace(world);
    const source = candidatesFrom({ index: 'flat', k: 7 }, null, where);
    const part = workspace.withQueries([5, 2]);
    try {
      const { positions, width } = await workspace.get(source);
      const rows = [5, 2].flatMap((query) => [...positions.subarray(query * width, (query + 1) * width)]);
      expect([...(await part.get(source)).positions]).toEqual(rows);
    } finally {
      part.dispose();
      workspace.dispose();
    }
  });

  test('queries with equal variables share a list', () => {
    const lists = listVisibleTurns(SAME_CHANNEL, { corpus, queries });
    const channels = new Set(queries.map(({ channel }) => channel));
    expect(channels.size).toBeGreaterThan(1);
    expect(new Set(lists).size).toBe(channels.size);
    for (const [query, list] of lists.entries()) {
      const expected = [...corpus.turns.keys()].filter((i) => corpus.turns[i]?.channel === queries[query]?.channel);
      expect([...list]).toEqual(expected);
    }
    expect(new Set(listVisibleTurns('timestamp < $query.timestamp', { corpus, queries })).size).toBeGreaterThan(3);
  });
});

describe('after the search', () => {
  test('turns of the channel alone are left, by the same text as a filter of the arm', async () => {
    const workspace = createSampleWorkspace(world);
    try {
      const all = await findPool(workspace, null, poolOfArm(SAMPLE_ARMS.hybrid));
      const same = await findPool(workspace, null, poolOfArm(SAMPLE_ARMS['same channel']));
      const filtered = await findPool(workspace, null, poolOfArm(filterAfter(SAME_CHANNEL)));
      expect([...filtered.positions]).toEqual([...same.positions]);
      const list = (pool: typeof all, query: number) =>
        [...pool.positions.subarray(query * pool.width, (query + 1) * pool.width)].filter((position) => position >= 0);
      for (const [query, { channel }] of queries.entries())
        expect(list(same, query)).toEqual(list(all, query).filter((i) => corpus.turns[i]?.channel === channel));
    } finally {
      workspace.dispose();
    }
  });
});

test('a query has the variables of its fields, null where it has none', () => {
  expect(Object.keys(listQueryVariables(queries[0]!))).toEqual([
    'id',
    'author',
    'channel',
    'timestamp',
    'conversationId',
  ]);
  expect(listQueryVariables(queries[0]!).conversationId).toBe(queries[0]!.conversationId ?? null);
});

describe('keys', () => {
  let plan: Plan;
  beforeAll(() => {
    plan = new Plan({ identity: { code: 'c', data: 'd', encoder: {} }, corpus, queries, seed: 3 });
  });
  const source = indexOptions.parse({ index: 'bm25', k: 19 });
  const readPoolKey = (arm: RankOptions) => plan.stage(poolRows(poolOfArm(arm))).key;
  const free = parseArm({ search, fuse });

  test('no filter adds nothing', () => {
    expect(plan.stage(candidatesFrom(source, null, null)).key).toBe(plan.stage(candidatesFrom(source, null)).key);
    expect(poolRows(poolOfArm(filterAfter(null))).key(plan as never)).toEqual([]);
    for (const arm of [filterBefore(null), filterAfter(null)]) expect(readPoolKey(arm)).toBe(readPoolKey(free));
  });

  test('a filter before the search is part of the key of each source, one after it of the pool alone', () => {
    const where = 'outcome > 1';
    const keys = [
      candidatesFrom(source, null),
      candidatesFrom(source, null, where),
      candidatesFrom(source, null, 'outcome > 2'),
    ];
    expect(new Set(keys.map((use) => plan.stage(use).key)).size).toBe(3);
    expect(new Set([free, filterBefore(where), filterAfter(where)].map(readPoolKey)).size).toBe(3);
    const names = (arm: RankOptions) =>
      Object.values(poolRows(poolOfArm(arm)).inputs(plan as never)).map((use) => plan.stage(use).key);
    expect(names(filterAfter(where))).toEqual(names(free));
    expect(names(filterBefore(where))).not.toEqual(names(free));
  });
});
