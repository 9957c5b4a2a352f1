import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { findDatasetOrigin, loadDataset } from '../registry.ts';
import { fromTurns, type QueryInput, type TurnInput } from './from-turns.ts';

const turns: TurnInput[] = [
  { id: 'a1', conversationId: 'soup', timestamp: '2024-03-01T09:00:00Z', text: 'How long do lentils take?' },
  { id: 'a2', conversationId: 'soup', timestamp: new Date('2024-03-01T09:05:00Z'), text: 'A quarter of an hour.' },
  {
    id: 'b1',
    conversationId: 'bread',
    timestamp: 1_709_546_400_000,
    text: 'My sourdough does not rise.',
    author: 'ana',
  },
];
const queries: QueryInput[] = [{ id: 'q1', text: 'cooking time of lentils' }];

describe('fromTurns', () => {
  test('fills in parents, times of queries, split and cluster', () => {
    const { corpus, queries: asked, qrels, name } = fromTurns(turns, queries, { q1: { a2: 2 } });
    expect(corpus.turns.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['a1', null],
      ['a2', 'a1'],
      ['b1', null],
    ]);
    expect(asked).toEqual([
      {
        id: 'q1',
        text: 'cooking time of lentils',
        timestamp: 1_709_546_400_001,
        anchorTurnId: null,
        author: null,
        channel: null,
        split: 'test',
        cluster: 'q1',
      },
    ]);
    expect(qrels.get('q1')).toEqual(new Map([['a2', 2]]));
    expect(name).toBe('memory');
  });

  test('takes judgements as objects, lists and maps', () => {
    const { qrels } = fromTurns(turns, queries, { q1: ['a1', 'a2'] });
    const pairs: [string, number][] = [
      ['a1', 1],
      ['a2', 1],
    ];
    expect(qrels).toEqual(new Map([['q1', new Map(pairs)]]));
    expect(fromTurns(turns, queries, new Map([['q1', new Map(pairs)]])).qrels).toEqual(qrels);
  });

  test('gives the dataset of the same rows in files, hash and all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'from-turns-'));
    try {
      const { corpus, queries: asked } = fromTurns(turns, queries, { q1: { a2: 2 } });
      const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      writeFileSync(join(folder, 'turns.jsonl'), lines(corpus.turns));
      writeFileSync(join(folder, 'queries.jsonl'), lines(asked.map(({ split: _, cluster: __, ...row }) => row)));
      writeFileSync(join(folder, 'qrels.txt'), 'q1 0 a2 2\n');
      expect(readFileSync(join(folder, 'turns.jsonl'), 'utf8')).toContain('lentils');
      const loaded = await loadDataset({ name: 'jsonl', path: folder });
      const made = fromTurns(turns, queries, { q1: { a2: 2 } });
      expect(loaded.hash).toBe(made.hash);
      expect({ ...loaded, name: '', declaration: null }).toEqual({ ...made, name: '', declaration: null });
      expect(findDatasetOrigin(loaded)).toEqual({ name: 'jsonl', path: folder });
      expect(findDatasetOrigin(made)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('takes superseded turns with what replaced them', () => {
    const superseded = { q1: { a1: 'a2' } };
    const made = fromTurns(turns, queries, { q1: ['a2'] }, { superseded });
    expect(made.superseded).toEqual(new Map([['q1', new Map([['a1', 'a2']])]]));
    expect(fromTurns(turns, queries, { q1: ['a2'] }, { superseded: made.superseded! }).hash).toBe(made.hash);
    const act = (wrong: object) => () => fromTurns(turns, queries, { q1: ['a2'] }, { superseded: wrong as never });
    expect(act({ q1: { a1: 'a9' } })).toThrow('superseded.q1');
    expect(act({ q1: ['a1'] })).toThrow(/fromTurns: superseded/);
  });

  test('names every invalid row at once', () => {
    const wrong = [
      ...turns,
      { ...turns[0], id: 'a 3' },
      { ...turns[0], parentId: null },
      { ...turns[0], id: 'a4', parentId: 'a9' },
    ];
    const act = () => fromTurns(wrong as TurnInput[], [{ ...queries[0], text: ' ' } as QueryInput], { q2: ['a1'] });
    expect(act).toThrow(ValidationError);
    expect(act).toThrow(/5 errors in fromTurns; correct and run again, or leave the rows out:/);
    for (const part of [
      'turns[3]: malformed row: id',
      'turns[4]: duplicate id: a1',
      'turns[5]: missing parent: a9',
      'queries[0]: malformed row: text',
      'qrels.q2: unknown query: q2',
    ])
      expect(act).toThrow(part);
  });

  test('refuses arguments of another shape and no query', () => {
    expect(() => fromTurns('turns' as never, queries, {})).toThrow(ConfigurationError);
    expect(() => fromTurns(turns, queries, { q1: 3 as never })).toThrow(/fromTurns: qrels/);
    expect(() => fromTurns(turns, queries, {}, { relevantGrade: 0 })).toThrow(/relevantGrade/);
    expect(() => fromTurns(turns, [], {})).toThrow('no query in queries: 0 given; add queries');
  });
});

test('a config cannot load what only a program holds', async () => {
  await expect(loadDataset({ name: 'memory' })).rejects.toThrow(UnavailableError);
});
