import { expect, test } from 'vitest';
import type { TurnGroups } from '../../../index/words/grouped-bm25.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import { countBegunSessions, findNeighbour, groupSessions } from '../../../model/turns/sessions.ts';
import { groupBySession, WindowGroups } from './sessions.ts';
import { TURNS } from './small-threads.fixture.ts';

const corpus = new Corpus(TURNS);
const sessions = groupSessions(corpus);
const id = (position: number) => corpus.turns[position]?.id ?? null;
const findNamedPosition = (name: string) => corpus.getPosition(name);

test('turns of one conversation and one channel are a session, in the order of their first turns', () => {
  expect(sessions.members.map((turns) => Array.from(turns, id))).toEqual([
    ['a0', 'a1', 'a3', 'a4', 'a6'],
    ['b0', 'b1'],
    ['a2', 'a5'],
    ['c0', 'c1'],
  ]);
  for (const [session, turns] of sessions.members.entries()) {
    expect(sessions.firsts[session]).toBe(turns[0]);
    for (const [place, position] of turns.entries())
      expect([sessions.sessionOf[position], sessions.stepOf[position]]).toEqual([session, place]);
  }
});

test.each([
  ['a3', 1, 'a4'],
  ['a3', -2, 'a0'],
  ['a3', 3, null],
  ['a0', -1, null],
  ['a2', 1, 'a5'],
  ['b1', 0, 'b1'],
])('from %s %i steps in its session: %s', (from, steps, to) => {
  expect(id(findNeighbour(sessions, findNamedPosition(from), steps))).toBe(to);
});

test.each([
  [0, 0],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 4],
  [11, 4],
])('%i turns have begun %i sessions', (cutoff, count) => {
  expect(countBegunSessions(sessions, cutoff)).toBe(count);
});

/** The turns of each document with the one that it begins with. */
function listDocumentTurns(groups: TurnGroups) {
  const { width, documents, begins } = groups;
  return Array.from(begins, (begin, document) => {
    const turns = [...TURNS.keys()].filter((turn) =>
      documents.subarray(turn * width, (turn + 1) * width).includes(document),
    );
    expect(groups.listTurnsBefore(document)).toEqual(turns.filter((turn) => turn < begin));
    return [turns.map(id).join(' '), id(begin)];
  });
}

test('a window is a turn with those around it in its session, from the moment of the turn', () => {
  expect(listDocumentTurns(new WindowGroups(sessions, 0))).toEqual(TURNS.map((turn) => [turn.id, turn.id]));
  const windows = [
    'a0 a1',
    'b0 b1',
    'a0 a1 a3',
    'a2 a5',
    'c0 c1',
    'a1 a3 a4',
    'b0 b1',
    'a3 a4 a6',
    'c0 c1',
    'a2 a5',
    'a4 a6',
  ];
  expect(listDocumentTurns(new WindowGroups(sessions, 1))).toEqual(
    windows.map((window, position) => [window, id(position)]),
  );
  expect(listDocumentTurns(new WindowGroups(sessions, 2))[findNamedPosition('a3')]).toEqual(['a0 a1 a3 a4 a6', 'a3']);
});

test('a session is a document from its first turn on', () => {
  expect(listDocumentTurns(groupBySession(sessions))).toEqual([
    ['a0 a1 a3 a4 a6', 'a0'],
    ['b0 b1', 'b0'],
    ['a2 a5', 'a2'],
    ['c0 c1', 'c0'],
  ]);
});
