import { describe, expect, it } from 'vitest';
import { selectSoundJudgements, selectSoundQueries } from './jsonl.ts';
import { type QrelRow, queryRow, RowFaults } from './jsonl-rows.ts';

const place = <T>(rows: readonly T[]) => rows.map((row, i) => ({ where: `${i + 1}`, row }));
const buildQueryRow = (id: string, timestamp: number, more: object = {}) =>
  queryRow.parse({ id, text: id, timestamp, ...more });
const TURNS = ['r', 'a', 'b', 'x'].map((id, i) => ({
  id,
  conversationId: id === 'x' ? 'other' : 'c',
  parentId: null,
  timestamp: 100 * (i + 1),
  author: null,
  channel: null,
  text: id,
}));

describe('selectSoundQueries', () => {
  it('puts them in time order, ids where times are equal', () => {
    const queries = selectSoundQueries(
      place([buildQueryRow('q', 3), buildQueryRow('p', 3), buildQueryRow('o', 2)]),
      TURNS,
      new RowFaults(),
    );
    expect(queries.map(({ id }) => id)).toEqual(['o', 'p', 'q']);
  });

  it('keeps one with an earlier anchor of its conversation', () => {
    const row = buildQueryRow('p', 301, { anchorTurnId: 'b', conversationId: 'c' });
    const faults = new RowFaults();
    expect(selectSoundQueries(place([row]), TURNS, faults)).toEqual([row]);
    expect(faults.list).toEqual([]);
  });

  it.each([
    ['a second of an id', buildQueryRow('q', 2000), 'duplicate id', 'q'],
    [
      'a missing anchor',
      buildQueryRow('p', 2000, { anchorTurnId: 'gone', split: 'dev' }),
      'missing anchor turn',
      'gone',
    ],
    [
      'an anchor in another conversation',
      buildQueryRow('p', 2000, { anchorTurnId: 'a', conversationId: 'other' }),
      'anchor in another conversation',
      'other and c',
    ],
    [
      'an anchor of the same moment',
      buildQueryRow('p', 300, { anchorTurnId: 'b' }),
      'anchor is not earlier than its query',
      'b',
    ],
    ['a missing conversation', buildQueryRow('p', 2000, { conversationId: 'gone' }), 'missing conversation', 'gone'],
    ['one without a split', buildQueryRow('p', 2000), 'no split, where other queries have one', 'p'],
  ])('leaves out %s', (_, row, kind, detail) => {
    const faults = new RowFaults();
    const queries = selectSoundQueries(place([buildQueryRow('q', 1000, { split: 'dev' }), row]), TURNS, faults);
    expect(queries.map(({ id, split }) => [id, split])).toEqual([['q', 'dev']]);
    expect(faults.list).toEqual([{ where: '2', kind, detail }]);
  });
});

describe('selectSoundJudgements', () => {
  const QUERIES = [buildQueryRow('q', 300)];

  it.each<[string, QrelRow, string, string]>([
    ['an unknown query', { queryId: 'p', turnId: 'a', grade: 1 }, 'unknown query', 'p'],
    ['an unknown turn', { queryId: 'q', turnId: 'z', grade: 1 }, 'unknown turn', 'z'],
    ['a turn of the same moment', { queryId: 'q', turnId: 'b', grade: 1 }, 'turn is not earlier than its query', 'b'],
    ['a second of a pair', { queryId: 'q', turnId: 'a', grade: 1 }, 'judged twice', 'q a'],
  ])('leaves out %s', (_, row, kind, detail) => {
    const faults = new RowFaults();
    const first = { queryId: 'q', turnId: 'a', grade: 2 };
    expect(selectSoundJudgements(place([first, row]), QUERIES, TURNS, faults)).toEqual([first]);
    expect(faults.list).toEqual([{ where: '2', kind, detail }]);
  });
});
