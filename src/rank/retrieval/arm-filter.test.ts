import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { parse } from '../../core/validation/validation.ts';
import type { IndexOptions } from '../../index/registry.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { Plan } from '../signals/plan.ts';
import { poolOfArm, SAMPLE_ARMS } from './arms.fixture.ts';
import { candidatesFrom, findPool, poolRows } from './candidate-sources.ts';
import { listQueryVariables, listVisibleTurns, SAME_CHANNEL } from './query-filter.ts';
import { retrieve } from './retriever.ts';
import { type RetrieverInput, retrieverOptions } from './retriever-options.ts';

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

const resolve = (
  filter: RetrieverInput['filter'],
  candidates: RetrieverInput['candidates'] = [{ index: 'flat', k: 7 }],
) => retrieverOptions.parse({ candidates, relevance: { signals: ['cosine'] }, filter });

describe('a filter of an arm', () => {
  test('is a text, a tree or a mapping, and is resolved to one text', () => {
    const resolved = { where: "kind = 'fact' and outcome > 1", apply: 'before' };
    const of = [
      { op: '=', field: 'kind', value: 'fact' },
      { op: '>', field: 'outcome', value: 1 },
    ];
    expect(resolve(`kind="fact" AND (outcome>1)`).filter).toEqual(resolved);
    expect(resolve({ op: 'and', of }).filter).toEqual(resolved);
    expect(resolve({ where: { op: 'and', of }, apply: 'after' }).filter).toEqual({ ...resolved, apply: 'after' });
    expect(resolve({ where: resolved.where }).filter).toEqual(resolved);
    expect(retrieverOptions.parse(resolve(resolved.where)).filter).toEqual(resolved);
    expect(Object.keys(SAMPLE_ARMS.hybrid)).not.toContain('filter');
  });

  test.each<[unknown, string]>([
    [
      "kind = 'fact' adn outcome > 1",
      'filter: expected a filter with and, or, or the end of the text at line 1, column 15, not adn (did you mean and?)',
    ],
    [
      { where: 'kind = fact' },
      "filter.where: expected a filter with a string, a number, true, false, null or a variable at line 1, column 8, not fact (put a string in quotes: 'fact')",
    ],
    [{ op: 'not', of: { op: 'exists' } }, 'filter: expected a filter with string at of.field, not nothing'],
  ])('that is wrong is an error with the place: %j', (filter, message) => {
    const parseArm = () => parse(retrieverOptions, { ...SAMPLE_ARMS.newest, filter }, 'the config');
    expect(parseArm).toThrow(ConfigurationError);
    expect(parseArm).toThrow(message);
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
    ...retrieverOptions.parse({ candidates: [{ index: 'hnsw', k: 7 }], relevance: { signals: ['recency'] } })
      .candidates,
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
      const arm = { ...SAMPLE_ARMS.hybrid, filter: { where, apply: 'before' as const } };
      const { pool } = await retrieve(workspace, arm);
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
  test('sameChannel is a filter: the same pool, and turns of the channel alone', async () => {
    const workspace = createSampleWorkspace(world);
    try {
      const after = { ...SAMPLE_ARMS.hybrid, filter: { where: SAME_CHANNEL, apply: 'after' as const } };
      const all = await findPool(workspace, null, poolOfArm(SAMPLE_ARMS.hybrid));
      const same = await findPool(workspace, null, poolOfArm(SAMPLE_ARMS['same channel']));
      const filtered = await findPool(workspace, null, poolOfArm(after));
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
  const { hybrid } = SAMPLE_ARMS;
  const source = hybrid.candidates[0] as IndexOptions;
  const readPoolKey = (filter?: typeof hybrid.filter) => plan.stage(poolRows(poolOfArm({ ...hybrid, filter }))).key;

  test('no filter adds nothing', () => {
    expect(plan.stage(candidatesFrom(source, null, null)).key).toBe(plan.stage(candidatesFrom(source, null)).key);
    expect(poolRows(poolOfArm({ ...hybrid, filter: null })).key(plan as never)).toEqual([]);
    expect(readPoolKey(null)).toBe(readPoolKey());
  });

  test('a filter before the search is part of the key of each source, one after it of the pool alone', () => {
    const where = 'outcome > 1';
    const [before, after] = (['before', 'after'] as const).map((apply) => ({ where, apply }));
    const keys = [
      candidatesFrom(source, null),
      candidatesFrom(source, null, where),
      candidatesFrom(source, null, 'outcome > 2'),
    ];
    expect(new Set(keys.map((use) => plan.stage(use).key)).size).toBe(3);
    expect(new Set([readPoolKey(), readPoolKey(before), readPoolKey(after)]).size).toBe(3);
    const inputs = (filter: typeof hybrid.filter) => poolRows(poolOfArm({ ...hybrid, filter })).inputs(plan as never);
    const names = (filter: typeof hybrid.filter) => Object.values(inputs(filter)).map((use) => plan.stage(use).key);
    expect(names(after)).toEqual(names(null));
    expect(names(before)).not.toEqual(names(null));
  });
});
