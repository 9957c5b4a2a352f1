import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../core/errors.ts';
import { Conversation, compareTurns } from './conversation.ts';
import type { Turn } from './turn.ts';

const turn = (id: string, parentId: string | null, timestamp: number, conversationId = 'c'): Turn => ({
  id,
  conversationId,
  parentId,
  timestamp,
  author: null,
  channel: null,
  text: `text of ${id}`,
});

const ids = (turns: readonly Turn[]) => turns.map(({ id }) => id);

describe('Conversation', () => {
  const conversation = new Conversation('c', [
    turn('e', 'b', 50),
    turn('d', 'a', 30),
    turn('b', 'a', 20),
    turn('c', 'a', 20),
    turn('a', null, 10),
    turn('f', null, 40),
  ]);

  it('iterates in time order, ids by bytes where times are equal', () => {
    expect(ids(conversation.turns)).toEqual(['a', 'b', 'c', 'd', 'f', 'e']);
  });

  it('knows roots, children, siblings and depths', () => {
    expect(ids(conversation.roots())).toEqual(['a', 'f']);
    expect(ids(conversation.children('a'))).toEqual(['b', 'c', 'd']);
    expect(ids(conversation.children('e'))).toEqual([]);
    expect(ids(conversation.siblingGroup('c'))).toEqual(['b', 'c', 'd']);
    expect(ids(conversation.siblingGroup('a'))).toEqual(['a', 'f']);
    expect(['a', 'b', 'e', 'f'].map((id) => conversation.depth(id))).toEqual([0, 1, 2, 0]);
  });

  it('has the depth that walking up to the root counts', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 41 }), (picks) => {
        const turns = picks.map((pick, i) => turn(`t${i}`, i === 0 ? null : `t${pick % i}`, i));
        const tree = new Conversation('c', turns);
        const walked = (item: Turn): number =>
          item.parentId === null ? 0 : 1 + walked(turns.find(({ id }) => id === item.parentId) as Turn);
        for (const item of turns) expect(tree.depth(item.id)).toBe(walked(item));
      }),
    );
  });

  it('holds ids that are members of every object', () => {
    const tree = new Conversation('c', [
      turn('__proto__', null, 1),
      turn('constructor', '__proto__', 2),
      turn('toString', 'constructor', 3),
    ]);
    expect(ids(tree.children('__proto__'))).toEqual(['constructor']);
    expect(tree.depth('toString')).toBe(2);
    expect(() => tree.turn('valueOf')).toThrow('conversation c has no turn: valueOf');
    expect(() => tree.graph).toThrow('graphology does not allow the turn id: __proto__; rename the turn');
  });

  it('is a graph of graphology too', () => {
    const { graph } = conversation;
    expect(graph.mapOutNeighbors('a', (id) => id)).toEqual(['b', 'c', 'd']);
    expect(graph.getNodeAttributes('e')).toEqual({ turn: conversation.turn('e'), depth: 2 });
    expect([graph.order, graph.size]).toEqual([6, 4]);
    expect(conversation.graph).toBe(graph);
  });

  it('leaves the array that it was given alone', () => {
    const given = [turn('b', 'a', 2), turn('a', null, 1)];
    expect(ids(new Conversation('c', given).turns)).toEqual(['a', 'b']);
    expect(ids(given)).toEqual(['b', 'a']);
  });

  it.each<[string, Turn[], string]>([
    ['a duplicate id', [turn('a', null, 1), turn('a', null, 2)], 'duplicate turn id: a'],
    ['a missing parent', [turn('a', 'z', 1)], 'parent of turn a is missing in conversation c: z'],
    ['its own parent', [turn('a', null, 1), turn('b', 'b', 2)], 'a cycle in conversation c: b'],
    [
      'a cycle that a tail hangs from',
      [turn('a', null, 1), turn('x', 'z', 2), turn('y', 'x', 3), turn('z', 'y', 4), turn('0', 'x', 5)],
      'turn is its own ancestor, a cycle in conversation c: x',
    ],
    ['a turn of another conversation', [turn('a', null, 1, 'd')], 'turn a belongs to another conversation: d'],
  ])('refuses %s', (_, turns, message) => {
    const build = () => new Conversation('c', turns);
    expect(build).toThrow(ValidationError);
    expect(build).toThrow(message);
  });

  it.each(['turn', 'children', 'siblingGroup', 'depth'] as const)(
    'names a turn that it does not have: %s',
    (method) => {
      expect(() => conversation[method]('z')).toThrow(ValidationError);
      expect(() => conversation[method]('z')).toThrow(/^conversation c has no turn: z; /);
    },
  );
});

describe('compareTurns', () => {
  it('orders ids by bytes of UTF-8, not by UTF-16', () => {
    const sorted = [turn('\u{1F600}', null, 1), turn('\uFFFD', null, 1)].sort(compareTurns);
    expect(ids(sorted)).toEqual(['\uFFFD', '\u{1F600}']);
  });
});
