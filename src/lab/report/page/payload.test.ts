import { expect, test } from 'vitest';
import { stateShown } from '../../../core/display/display.ts';
import { DimensionMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import type { ArmResult, QueryRecord, TurnRecord } from '../../measure/result.ts';
import { buildHandmadeResult } from '../tables/result.fixture.ts';
import { inventResult } from './invented-result.fixture.ts';
import { inventSweep } from './invented-sweep.fixture.ts';
import { buildPayload, packTurnColumns, selectShownTurns } from './payload.ts';
import { inventScoredResult } from './scored-result.fixture.ts';

const size = { arms: 5, threads: 13, turnsAThread: 7, top: 11 };
const result = inventResult(11, size);
const payload = buildPayload(result);
const withArm = (change: Partial<ArmResult>) => ({
  ...result,
  arms: result.arms.map((arm, at) => (at === 3 ? { ...arm, ...change } : arm)),
});

test('rankings are flat and read back as they were, to five digits', () => {
  for (const [at, arm] of result.arms.entries()) {
    const width = arm.componentNames.length + 2;
    for (const [query, ranking] of arm.rankings.entries()) {
      const flat = payload.arms[at]?.rankings?.[query] ?? [];
      expect(flat).toHaveLength(width * ranking.length);
      for (const [place, { id, score, components }] of ranking.entries()) {
        const [turn = -1, ...numbers] = flat.slice(place * width, (place + 1) * width);
        expect(payload.turns.id[turn]).toBe(id);
        for (const [part, value] of [score, ...components].entries())
          expect(Math.abs((numbers[part] ?? Number.NaN) - value)).toBeLessThanOrEqual(5e-5 * Math.abs(value));
      }
    }
  }
});

test('turns stand once, with parents, authors and conversations by position', () => {
  const { turns } = payload;
  expect(turns.id).toHaveLength(13 * 7);
  for (const [at, turn] of result.dataset.turns.entries()) {
    expect(turns.id[turns.parent[at] ?? -1] ?? null).toBe(turn.parentId);
    expect(turns.names[turns.author[at] ?? -1]).toBe(turn.author);
    expect(turns.names[turns.conversation[at] ?? -1]).toBe(turn.conversationId);
  }
});

test('judgements come by position, those of turns that are not shown as a count', () => {
  const [query] = result.queries;
  const elsewhere = {
    ...result,
    queries: [{ ...query, judgements: { ...query?.judgements, gone: 2 } }, ...result.queries.slice(1)],
  };
  const [judged] = buildPayload(elsewhere as typeof result).queries;
  const read = Array.from({ length: (judged?.judged.length ?? 0) / 2 }, (_, at) => [
    payload.turns.id[judged?.judged[2 * at] ?? -1],
    judged?.judged[2 * at + 1],
  ]);
  expect(Object.fromEntries(read)).toEqual(query?.judgements);
  expect(judged?.judgedElsewhere).toBe(1);
});

test('of a query with many judgements the page holds those of relevant and of ranked turns', () => {
  const ids = result.dataset.turns.map(({ id }) => id);
  const others = Array.from({ length: 301 - ids.length }, (_, i) => [`other${i}`, 1]);
  const judgements = Object.fromEntries([...ids.map((id, i) => [id, i === 0 ? 3 : 1]), ...others]);
  const many = { ...result, queries: result.queries.map((query) => ({ ...query, judgements })) };
  const ranked = new Set(result.arms.flatMap(({ rankings }) => (rankings[0] ?? []).map(({ id }) => id)));
  const [query] = buildPayload(many).queries;
  const held = (query?.judged ?? []).filter((_, at) => at % 2 === 0).map((at) => payload.turns.id[at]);
  expect(held).toContain(ids[0]);
  expect(held.filter((id) => id !== ids[0] && !ranked.has(id as string))).toEqual([]);
  expect(held.length).toBeLessThan(ids.length);
  expect(query?.judgedElsewhere).toBe(301 - held.length);
});

test('an arm that does not fit the queries or the turns is refused', () => {
  const [first = [], ...others] = result.arms[3]?.rankings ?? [];
  const stranger = { id: 'nobody', score: 1, components: [1, 1, 1, 1] };
  const narrow = { ...first[0], components: [1] } as typeof stranger;
  expect(() => buildPayload(withArm({ rankings: others }))).toThrow(
    new DimensionMismatchError('rankings of arm hybrid', 26, 25),
  );
  expect(() => buildPayload(withArm({ rankings: [[stranger], ...others] }))).toThrow(
    new ValidationError('arm hybrid ranks a turn that is not in the dataset: nobody; run the experiment again'),
  );
  expect(() => buildPayload(withArm({ rankings: [[narrow], ...others] }))).toThrow(DimensionMismatchError);
  expect(() => buildPayload(withArm({ perQuery: {} }))).toThrow(
    new DimensionMismatchError('mrr@10 of arm hybrid, values a query', 26, 0),
  );
});

test('a run of 15 arms, 400 queries, ten ranked turns and 3,200 turns stays below 8 MB', () => {
  const large = buildPayload(inventResult(2, { arms: 15, threads: 200, turnsAThread: 16, top: 10 }));
  expect(large.queries).toHaveLength(400);
  expect(JSON.stringify(large).length).toBeLessThan(8e6);
});

test('null controls are distinguished from other arms', () => {
  const { arms } = buildPayload(inventSweep(5, { levels: [2, 3, 2], threads: 3, turnsAThread: 5, top: 3 }));
  expect(arms.filter(({ control }) => control).map(({ name }) => name)).toEqual([
    'bm25 | control=permuted-order',
    'bm25 | control=random-parents',
  ]);
});

test('a sweep says how its levels were put together, from which arm, and which factors are numbers', () => {
  const swept = inventSweep(5, { levels: [2, 3, 2], threads: 3, turnsAThread: 5, top: 3 });
  const buildMethodPayload = (method: string, arm: string) =>
    buildPayload({ ...swept, sweep: { interactions: [], factors: swept.sweep?.factors ?? [], method, arm } });
  const designs = ['grid', 'factorial', 'one-factor', 'random'].map((method) => buildMethodPayload(method, 'bm25'));
  expect(designs.map(({ crossed, drawn, start }) => [crossed, drawn, start])).toEqual([
    [true, false, 1],
    [true, false, 1],
    [false, false, 1],
    [false, true, 1],
  ]);
  expect(buildMethodPayload('random', 'not run').start).toBe(-1);
  expect(designs[0]?.factors.map(({ name, numeric }) => [name, numeric])).toEqual([
    ['weight', true],
    ['window', true],
    ['decay', false],
  ]);
});

test('the page of scored run files holds the ids of the first ten documents, which are of no conversation', () => {
  const scored = buildPayload(inventScoredResult());
  const { turns, arms } = scored;
  // 1 / (1 + rank) of documents q, q + 1 or q + 3 ... of 13
  const read = (at: number, query: number) =>
    (arms[at]?.rankings?.[query] ?? []).flatMap((value, i) => (i % 2 === 0 ? [turns.text[value]] : []));
  const ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(read(0, 4)).toEqual(ten.map((rank) => `d${(4 + rank) % 13}`));
  expect(read(1, 4)).toEqual(ten.map((rank) => `d${(4 + 3 * rank) % 13}`));
  expect(turns.id).toHaveLength(13);
  expect(new Set(turns.conversation.map((at) => turns.names[at]))).toEqual(new Set(['']));
});

test('an arm without a ranking in the result has none on the page, not an empty one', () => {
  const without = buildPayload(withArm({ rankings: result.queries.map(() => []) }));
  expect(without.arms.map(({ rankings }) => rankings === null)).toEqual([false, false, false, true, false]);
});

const buildTurn = (id: string, conversationId: string, more: Partial<TurnRecord> = {}): TurnRecord => ({
  id,
  conversationId,
  parentId: null,
  timestamp: 7,
  author: null,
  channel: null,
  text: stateShown(id.toUpperCase()),
  ...more,
});
const turns = [
  buildTurn('a1', 'a'),
  buildTurn('b1', 'b'),
  buildTurn('a2', 'a'),
  buildTurn('c1', 'c'),
  buildTurn('b2', 'b'),
  buildTurn('d1', 'd'),
  buildTurn('d2', 'd'),
];

test('shown are the turns that an inspected arm ranks, and whole conversations of judged turns and of queries', () => {
  const sample = buildHandmadeResult();
  const [arm] = sample.arms as [ArmResult];
  const buildIdRanking = (...ids: string[]) => [ids.map((id) => ({ id, score: 1, components: [] }))];
  const arms = [
    { ...arm, name: 'seen', rankings: buildIdRanking('d2') },
    { ...arm, name: 'unseen', rankings: buildIdRanking('d1') },
  ];
  const [one] = sample.queries as [QueryRecord];
  const buildShownQuery = (turnId: string | null, judgements: Record<string, number>) => ({
    ...one,
    turnId,
    judgements,
  });
  const selectShownIds = (queries: QueryRecord[]) =>
    selectShownTurns({ ...sample, arms, queries, dataset: { ...sample.dataset, turns } }, new Set(['seen'])).map(
      ({ id }) => id,
    );
  expect(selectShownIds([buildShownQuery(null, { a2: 0 }), buildShownQuery('b1', {})])).toEqual([
    'a1',
    'b1',
    'a2',
    'b2',
    'd2',
  ]);
  expect(selectShownIds([buildShownQuery(null, { elsewhere: 3 })])).toEqual(['d2']);
});

test('columns hold each name once, parents by the positions that they are given, and nothing as -1', () => {
  const rows = [
    buildTurn('x', 'kitchen', { author: 'mary', channel: 'kitchen' }),
    buildTurn('y', 'bakery', { parentId: 'x', author: null, timestamp: 11 }),
    buildTurn('z', 'kitchen', { parentId: 'gone', author: 'bakery', timestamp: 13 }),
  ];
  const positions = new Map([
    ['x', 5],
    ['y', 6],
  ]);
  const { names, ...columns } = packTurnColumns(rows, positions);
  const listColumnNames = (column: readonly number[]) => column.map((at) => names[at] ?? at);
  expect(listColumnNames(columns.conversation)).toEqual(['kitchen', 'bakery', 'kitchen']);
  expect(listColumnNames(columns.author)).toEqual(['mary', -1, 'bakery']);
  expect(listColumnNames(columns.channel)).toEqual(['kitchen', -1, -1]);
  expect([...names].sort()).toEqual(['bakery', 'kitchen', 'mary']);
  expect(columns).toMatchObject({
    id: ['x', 'y', 'z'],
    parent: [-1, 5, -1],
    timestamp: [7, 11, 13],
    text: ['X', 'Y', 'Z'],
  });
});
