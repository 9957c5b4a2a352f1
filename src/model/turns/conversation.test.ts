import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { Conversation, compareTurns } from './conversation.ts';
import type { Turn } from './turn.ts';

const buildTurn = (id: string, parentId: string | null, timestamp: number, conversationId = 'c'): Turn => ({
  id,
  conversationId,
  parentId,
  timestamp,
  author: null,
  channel: null,
  text: `text of ${id}`,
});

const listTurnIds = (turns: readonly Turn[]) => turns.map(({ id }) => id);

describe('Conversation', () => {
  const conversation = new Conversation('c', [
    buildTurn('e', 'b', 50),
    buildTurn('d', 'a', 30),
    buildTurn('b', 'a', 20),
    buildTurn('c', 'a', 20),
    buildTurn('a', null, 10),
    buildTurn('f', null, 40),
  ]);

  it('iterates in time order, ids by bytes where times are equal', () => {
    expect(listTurnIds(conversation.turns)).toEqual(['a', 'b', 'c', 'd', 'f', 'e']);
  });

  it('knows roots, children, siblings and depths', () => {
    expect(listTurnIds(conversation.listRoots())).toEqual(['a', 'f']);
    expect(listTurnIds(conversation.listChildren('a'))).toEqual(['b', 'c', 'd']);
    expect(listTurnIds(conversation.listChildren('e'))).toEqual([]);
    expect(listTurnIds(conversation.listSiblingGroup('c'))).toEqual(['b', 'c', 'd']);
    expect(listTurnIds(conversation.listSiblingGroup('a'))).toEqual(['a', 'f']);
    expect(['a', 'b', 'e', 'f'].map((id) => conversation.getDepth(id))).toEqual([0, 1, 2, 0]);
  });

  it('has the depth that walking up to the root counts', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 41 }), (picks) => {
        const turns = picks.map((pick, i) => buildTurn(`t${i}`, i === 0 ? null : `t${pick % i}`, i));
        const tree = new Conversation('c', turns);
        const walkToRoot = (item: Turn): number =>
          item.parentId === null ? 0 : 1 + walkToRoot(turns.find(({ id }) => id === item.parentId) as Turn);
        for (const item of turns) expect(tree.getDepth(item.id)).toBe(walkToRoot(item));
      }),
    );
  });

  it('holds ids that are members of every object', () => {
    const tree = new Conversation('c', [
      buildTurn('__proto__', null, 1),
      buildTurn('constructor', '__proto__', 2),
      buildTurn('toString', 'constructor', 3),
    ]);
    expect(listTurnIds(tree.listChildren('__proto__'))).toEqual(['constructor']);
    expect(tree.getDepth('toString')).toBe(2);
    expect(() => tree.getTurn('valueOf')).toThrow('conversation c has no turn: valueOf');
    expect(() => tree.graph).toThrow('graphology does not allow the turn id: __proto__; rename the turn');
  });

  it('is a graph of graphology too', () => {
    const { graph } = conversation;
    expect(graph.mapOutNeighbors('a', (id) => id)).toEqual(['b', 'c', 'd']);
    expect(graph.getNodeAttributes('e')).toEqual({ turn: conversation.getTurn('e'), depth: 2 });
    expect([graph.order, graph.size]).toEqual([6, 4]);
    expect(conversation.graph).toBe(graph);
  });

  it('leaves the array that it was given alone', () => {
    const given = [buildTurn('b', 'a', 2), buildTurn('a', null, 1)];
    expect(listTurnIds(new Conversation('c', given).turns)).toEqual(['a', 'b']);
    expect(listTurnIds(given)).toEqual(['b', 'a']);
  });

  it.each<[string, Turn[], string]>([
    ['a duplicate id', [buildTurn('a', null, 1), buildTurn('a', null, 2)], 'duplicate turn id: a'],
    ['a missing parent', [buildTurn('a', 'z', 1)], 'parent of turn a is missing in conversation c: z'],
    ['its own parent', [buildTurn('a', null, 1), buildTurn('b', 'b', 2)], 'a cycle in conversation c: b'],
    [
      'a cycle that a tail hangs from',
      [
        buildTurn('a', null, 1),
        buildTurn('x', 'z', 2),
        buildTurn('y', 'x', 3),
        buildTurn('z', 'y', 4),
        buildTurn('0', 'x', 5),
      ],
      'turn is its own ancestor, a cycle in conversation c: x',
    ],
    ['a turn of another conversation', [buildTurn('a', null, 1, 'd')], 'turn a belongs to another conversation: d'],
  ])('refuses %s', (_, turns, message) => {
    const build = () => new Conversation('c', turns);
    expect(build).toThrow(ValidationError);
    expect(build).toThrow(message);
  });

  it.each(['getTurn', 'listChildren', 'listSiblingGroup', 'getDepth'] as const)(
    'names a turn that it does not have: %s',
    (method) => {
      expect(() => conversation[method]('z')).toThrow(ValidationError);
      expect(() => conversation[method]('z')).toThrow(/^conversation c has no turn: z; /);
    },
  );
});

describe('compareTurns', () => {
  it('orders ids by bytes of UTF-8, not by UTF-16', () => {
    const sorted = [buildTurn('\u{1F600}', null, 1), buildTurn('\uFFFD', null, 1)].sort(compareTurns);
    expect(listTurnIds(sorted)).toEqual(['\uFFFD', '\u{1F600}']);
  });
});
