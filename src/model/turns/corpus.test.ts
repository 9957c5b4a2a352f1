import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { Corpus, findLowerBound, listConversationPositions } from './corpus.ts';
import type { Turn } from './turn.ts';

const buildTurn = (
  id: string,
  conversationId: string,
  parentId: string | null,
  timestamp: number,
  text = id,
): Turn => ({
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
    buildTurn('y2', 'y', 'y1', 30),
    buildTurn('x1', 'x', null, 10),
    buildTurn('x3', 'x', 'x1', 30),
    buildTurn('y1', 'y', null, 20),
    buildTurn('x2', 'x', 'x1', 25),
  ]);

  it('has positions in time order, ids by bytes where times are equal', () => {
    expect(corpus.turns.map(({ id }) => id)).toEqual(['x1', 'y1', 'x2', 'x3', 'y2']);
    expect(corpus.turns.map(({ id }) => corpus.getPosition(id))).toEqual([0, 1, 2, 3, 4]);
    expect(['p', corpus.turns[3]!.id].map((id) => corpus.findPosition(id))).toEqual([-1, 3]);
    expect([...corpus.timestamps]).toEqual([10, 20, 25, 30, 30]);
    expect(corpus.size).toBe(5);
  });

  /** All that a corpus says of its turns. */
  const describeCorpus = (made: Corpus) => ({
    turns: [...made.turns],
    arrays: [made.conversationOf, made.ringPosition, made.parent, made.timestamps],
    ties: [...made.turns.keys()].sort(made.compareTies),
    conversations: made.conversations.map(({ id, turns }) => [id, turns.map((turn) => turn.id), made.getPlace(id)]),
    positions: made.turns.map(({ id }) => made.findPosition(id)),
  });

  it('that grows by later turns says what a corpus of all of them says', () => {
    const shape = fc.record({ conversation: fc.constantFrom('a', 'b', 'c'), isReply: fc.boolean(), steps: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(shape, { minLength: 1, maxLength: 30 }), fc.array(fc.nat(30)), (shapes, cuts) => {
        let time = 0;
        const last = new Map<string, string>();
        const turns = shapes.map(({ conversation, isReply, steps }, i) => {
          time += steps; // equal times too
          const id = `t${String(i).padStart(2, '0')}`;
          const turn = buildTurn(id, conversation, isReply ? (last.get(conversation) ?? null) : null, time);
          last.set(conversation, id);
          return turn;
        });
        let grown = new Corpus([]);
        for (const cut of [...cuts, turns.length].sort((a, b) => a - b)) {
          const before = describeCorpus(grown);
          const next = new Corpus(turns.slice(grown.size, Math.max(cut, grown.size)), { after: grown });
          expect(describeCorpus(grown)).toEqual(before);
          grown = next;
        }
        expect(describeCorpus(grown)).toEqual(describeCorpus(new Corpus(turns)));
      }),
      { seed: 4, numRuns: 200 },
    );
  });

  it('knows no turn of the corpora that were made from it, nor do two of these know those of each other', () => {
    const before = new Corpus(corpus.turns);
    const [one, other] = ['p', 'q'].map((id) => buildTurn(id, id, null, 40)) as [Turn, Turn];
    const first = new Corpus([one, buildTurn('x4', 'x', 'x3', 41)], { after: before });
    const second = new Corpus([other], { after: before });
    expect(describeCorpus(before)).toEqual(describeCorpus(corpus));
    expect([first.startsWith(before), before.startsWith(first), second.startsWith(before)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(['p', 'q'].map((id) => [before, first, second].map((made) => made.has(id)))).toEqual([
      [false, true, false],
      [false, false, true],
    ]);
    expect(() => before.getConversation('p')).toThrow('corpus has no conversation: p');
    expect(before.findConversation('p')).toBe(null);
    expect(first.getTurn('p')).toBe(one);
    expect(second.getConversation('q').turns).toEqual([other]);
    const describeFirst = describeCorpus(first);
    expect(() => new Corpus([buildTurn('p', 'p', null, 50)], { after: first })).toThrow('duplicate turn id: p');
    expect(() => new Corpus([buildTurn('r', 'p', 'y1', 50)], { after: first })).toThrow('parent of turn r is missing');
    expect(describeCorpus(first)).toEqual(describeFirst);
    expect(describeCorpus(new Corpus([other], { after: first }))).toEqual(
      describeCorpus(new Corpus([...first.turns, other])),
    );
  });

  it('that gets later turns reads no turn of other conversations', () => {
    let reads = 0;
    const watch = (turn: Turn): Turn =>
      Object.defineProperty({ ...turn }, 'id', {
        enumerable: true,
        get: () => {
          reads++;
          return turn.id;
        },
      });
    const before = new Corpus([...corpus.turns.map(watch), buildTurn('z1', 'z', null, 50)]);
    reads = 0;
    const grown = new Corpus([buildTurn('z2', 'z', 'z1', 60)], { after: before });
    expect([grown.size, grown.startsWith(before), reads]).toEqual([7, true, 0]);
    expect(before.turns).toHaveLength(6); // copied now
    expect(before.conversations).toHaveLength(3);
    expect(reads).toBeGreaterThan(0);
  });

  it('after which earlier turns come has them in their places', () => {
    const late = buildTurn('y0', 'y', null, 15);
    expect(describeCorpus(new Corpus([late], { after: new Corpus(corpus.turns) }))).toEqual(
      describeCorpus(new Corpus([...corpus.turns, late])),
    );
  });

  it('has the conversations of another that are the same', () => {
    const turns = corpus.turns.map((turn) => (turn.id === 'x2' ? { ...turn, attributes: { outcome: 1 } } : turn));
    const changed = new Corpus(turns, { like: corpus });
    expect(changed.getConversation('x').turns[1]?.attributes).toEqual({ outcome: 1 });
    expect(changed.getConversation('y')).toBe(corpus.getConversation('y'));
    expect(changed.startsWith(corpus)).toBe(false);
  });

  it('knows parents, conversations and places in them by position', () => {
    expect([...corpus.parent]).toEqual([-1, -1, 0, 0, 1]);
    expect([...corpus.conversationOf].map((i) => corpus.conversations[i]?.id)).toEqual(['x', 'y', 'x', 'x', 'y']);
    expect([...corpus.ringPosition]).toEqual([0, 0, 1, 2, 1]);
  });

  it('finds turns and conversations by id, or says that there are none', () => {
    expect(corpus.getTurn('x2').timestamp).toBe(25);
    expect(corpus.has('x2')).toBe(true);
    expect(corpus.has('z')).toBe(false);
    expect(() => corpus.getTurn('z')).toThrow('corpus has no turn: z');
    expect(corpus.getConversation('y').turns.length).toBe(2);
    expect(() => corpus.getConversation('z')).toThrow('corpus has no conversation: z');
  });

  it.each([
    [10, 0],
    [10.5, 1],
    [25, 2],
    [30, 3],
    [31, 5],
  ])('admits before %d the first %d turns', (time, count) => {
    expect(corpus.countEarlierTurns(time)).toBe(count);
  });

  it('may be empty', () => {
    expect(new Corpus([]).countEarlierTurns(1)).toBe(0);
  });

  it.each<[string, Turn[], string]>([
    [
      'a duplicate id, also across conversations',
      [buildTurn('a', 'x', null, 1), buildTurn('a', 'y', null, 2)],
      'duplicate turn id: a',
    ],
    ['a missing parent', [buildTurn('a', 'x', 'z', 1)], 'parent of turn a is missing in conversation x: z'],
    [
      'a parent in another conversation',
      [buildTurn('a', 'x', null, 1), buildTurn('b', 'y', 'a', 2)],
      'parent of turn b is missing in conversation y: a',
    ],
    ['a cycle', [buildTurn('a', 'x', 'b', 1), buildTurn('b', 'x', 'a', 1)], 'a cycle in conversation x: a'],
    [
      'an id that no file can hold',
      [buildTurn('a\ud83d', 'x', null, 1)],
      'id has half a surrogate pair, which a file cannot store: "a\\ud83d"',
    ],
    [
      'a conversation with such an id',
      [buildTurn('a', '\ude00', null, 1)],
      'id has half a surrogate pair, which a file cannot store: "\\ude00"',
    ],
    ['an empty text', [buildTurn('a', 'x', null, 1, ' \n')], 'turn has an empty text: a'],
    ['a time that is no number', [buildTurn('a', 'x', null, Number.NaN)], 'time of turn a is not finite: NaN'],
    [
      'an endless time',
      [buildTurn('a', 'x', null, Number.POSITIVE_INFINITY)],
      'time of turn a is not finite: Infinity',
    ],
    [
      'a child before its parent',
      [buildTurn('a', 'x', null, 2), buildTurn('b', 'x', 'a', 1)],
      'turn is before its parent a: b',
    ],
  ])('refuses %s', (_, turns, message) => {
    const build = () => new Corpus(turns);
    expect(build).toThrow(ValidationError);
    expect(build).toThrow(message);
  });
});

describe('findLowerBound', () => {
  it('counts the values below', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20, max: 20 })), fc.integer({ min: -23, max: 23 }), (values, value) => {
        const ascending = Float64Array.from(values).sort();
        expect(findLowerBound(ascending, value)).toBe(values.filter((item) => item < value).length);
      }),
    );
  });
});

test('lists the positions of each conversation in time order', () => {
  const buildTurn = (id: string, conversationId: string, timestamp: number) => ({
    id,
    conversationId,
    parentId: null,
    timestamp,
    author: null,
    channel: null,
    text: id,
  });
  const corpus = new Corpus([
    buildTurn('d', 'x', 4),
    buildTurn('a', 'y', 1),
    buildTurn('c', 'y', 3),
    buildTurn('b', 'x', 2),
    buildTurn('e', 'y', 4),
  ]);
  const byId = new Map(
    corpus.conversations.map(({ id }, i) => [id, [...(listConversationPositions(corpus)[i] ?? [])]]),
  );
  expect(byId).toEqual(
    new Map([
      ['y', [0, 2, 4]],
      ['x', [1, 3]],
    ]),
  );
});
