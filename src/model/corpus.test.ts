import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../core/errors.ts';
import { Corpus, lowerBound } from './corpus.ts';
import type { Turn } from './turn.ts';

const turn = (id: string, conversationId: string, parentId: string | null, timestamp: number, text = id): Turn => ({
  id,
  conversationId,
  parentId,
  timestamp,
  author: null,
  channel: null,
  text,
});

describe('Corpus', () => {
  const corpus = new Corpus([
    turn('y2', 'y', 'y1', 30),
    turn('x1', 'x', null, 10),
    turn('x3', 'x', 'x1', 30),
    turn('y1', 'y', null, 20),
    turn('x2', 'x', 'x1', 25),
  ]);

  it('has positions in time order, ids by bytes where times are equal', () => {
    expect(corpus.turns.map(({ id }) => id)).toEqual(['x1', 'y1', 'x2', 'x3', 'y2']);
    expect(corpus.turns.map(({ id }) => corpus.position(id))).toEqual([0, 1, 2, 3, 4]);
    expect([...corpus.timestamps]).toEqual([10, 20, 25, 30, 30]);
    expect(corpus.size).toBe(5);
  });

  it('knows parents, conversations and places in them by position', () => {
    expect([...corpus.parent]).toEqual([-1, -1, 0, 0, 1]);
    expect([...corpus.conversationOf].map((i) => corpus.conversations[i]?.id)).toEqual(['x', 'y', 'x', 'x', 'y']);
    expect([...corpus.ringPosition]).toEqual([0, 0, 1, 2, 1]);
  });

  it('finds turns and conversations by id, or says that there are none', () => {
    expect(corpus.turn('x2').timestamp).toBe(25);
    expect(corpus.has('x2')).toBe(true);
    expect(corpus.has('z')).toBe(false);
    expect(() => corpus.turn('z')).toThrow('corpus has no turn: z');
    expect(corpus.conversation('y').turns.length).toBe(2);
    expect(() => corpus.conversation('z')).toThrow('corpus has no conversation: z');
  });

  it.each([
    [10, 0],
    [10.5, 1],
    [25, 2],
    [30, 3],
    [31, 5],
  ])('admits before %d the first %d turns', (time, count) => {
    expect(corpus.cutoff(time)).toBe(count);
  });

  it('may be empty', () => {
    expect(new Corpus([]).cutoff(1)).toBe(0);
  });

  it.each<[string, Turn[], string]>([
    [
      'a duplicate id, also across conversations',
      [turn('a', 'x', null, 1), turn('a', 'y', null, 2)],
      'duplicate turn id: a',
    ],
    ['a missing parent', [turn('a', 'x', 'z', 1)], 'parent of turn a is missing in conversation x: z'],
    [
      'a parent in another conversation',
      [turn('a', 'x', null, 1), turn('b', 'y', 'a', 2)],
      'parent of turn b is missing in conversation y: a',
    ],
    ['a cycle', [turn('a', 'x', 'b', 1), turn('b', 'x', 'a', 1)], 'a cycle in conversation x: a'],
    [
      'an id that no file can hold',
      [turn('a\ud83d', 'x', null, 1)],
      'id has half a surrogate pair, which a file cannot store: "a\\ud83d"',
    ],
    [
      'a conversation with such an id',
      [turn('a', '\ude00', null, 1)],
      'id has half a surrogate pair, which a file cannot store: "\\ude00"',
    ],
    ['an empty text', [turn('a', 'x', null, 1, ' \n')], 'turn has an empty text: a'],
    ['a time that is no number', [turn('a', 'x', null, Number.NaN)], 'time of turn a is not finite: NaN'],
    ['an endless time', [turn('a', 'x', null, Number.POSITIVE_INFINITY)], 'time of turn a is not finite: Infinity'],
    ['a child before its parent', [turn('a', 'x', null, 2), turn('b', 'x', 'a', 1)], 'turn is before its parent a: b'],
  ])('refuses %s', (_, turns, message) => {
    const build = () => new Corpus(turns);
    expect(build).toThrow(ValidationError);
    expect(build).toThrow(message);
  });
});

describe('lowerBound', () => {
  it('counts the values below', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20, max: 20 })), fc.integer({ min: -23, max: 23 }), (values, value) => {
        const ascending = Float64Array.from(values).sort();
        expect(lowerBound(ascending, value)).toBe(values.filter((item) => item < value).length);
      }),
    );
  });
});
