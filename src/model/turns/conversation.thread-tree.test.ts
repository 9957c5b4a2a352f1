import { describe, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { DISPLAY } from '../../core/display/display.ts';
import { displayRun } from '../run.ts';
import { Conversation, findChainEnds } from './conversation.ts';
import { showThread } from './conversation-display.ts';
import { Corpus } from './corpus.ts';
import type { Turn } from './turn.ts';

const say = (id: string, parentId: string | null, minutes: number, text = `text of ${id}`): Turn => ({
  id,
  conversationId: 'c1',
  parentId,
  timestamp: minutes * 60_000,
  author: id === 'b' ? null : 'ann',
  channel: null,
  text,
});
const turns = [say('a', null, 0), say('b', 'a', 1, '<i>markup</i>'), say('c', 'b', 2), say('d', 'a', 3)];
const conversation = new Conversation('c1', turns);

test('a conversation is a tree of replies in a notebook', () => {
  const bundle = conversation[DISPLAY]();
  expect(bundle['text/plain'].split('\n')).toEqual([
    'conversation c1: 4 turns',
    'ann, 1970-01-01 00:00: text of a',
    '├─ unknown, 1970-01-01 00:01: <i>markup</i>',
    '│  └─ ann, 1970-01-01 00:02: text of c',
    '└─ ann, 1970-01-01 00:03: text of d',
  ]);
  expect(bundle['text/html']).toContain('&lt;i&gt;markup&lt;/i&gt;');
  expect(bundle['text/html']).toContain('padding-left: 3.2em');
});

test('a mark precedes its turn', async () => {
  const bundle = await showThread(conversation, new Map([['d', 0.123456]]))[DISPLAY]();
  expect(bundle['text/plain']).toContain('└─ [.1235] ann, 1970-01-01 00:03');
  expect(bundle['text/html']).toContain('<b>.1235</b>');
});

test('turns beyond those shown are counted', () => {
  const many = Array.from({ length: 71 }, (_, at) => say(`t${String(at).padStart(2, '0')}`, null, at));
  expect(new Conversation('c1', many)[DISPLAY]()['text/plain'].split('\n').at(-1)).toBe('and 11 more');
});

test('a corpus shows its largest conversations, a run its first ranks', async () => {
  const other = { ...say('e', null, 1), conversationId: 'c2' };
  expect(new Corpus([...turns, other])[DISPLAY]()['text/plain'].split('\n')).toEqual([
    'corpus of 5 turns in 2 conversations; the largest are',
    'conversation  turns  first       last',
    'c1                4  1970-01-01  1970-01-01',
    'c2                1  1970-01-01  1970-01-01',
  ]);
  const ranking = ['a', 'b', 'c', 'd'].map((id, at) => ({ id, score: 1 / (at + 1) }));
  const run = displayRun(new Map([['q1', ranking]]));
  expect(run).toEqual(new Map([['q1', ranking]]));
  const { 'text/plain': text } = await readDisplay(run);
  expect(text.split('\n').slice(1)).toEqual([
    'query  rank  document  score',
    'q1        1  a             1',
    'q1        2  b         .5000',
    'q1        3  c         .3333',
  ]);
});

const listChainEnds = (parents: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(findChainEnds(Object.keys(parents), (id) => parents[id] ?? null));

describe('the end of a chain of parents', () => {
  test('is its root', () => {
    expect(listChainEnds({ c: 'b', b: 'a', a: null, e: 'b', d: null })).toEqual({
      a: 'a',
      b: 'a',
      c: 'a',
      e: 'a',
      d: 'd',
    });
  });

  test('is the id itself on a cycle, and the first id of the cycle below one', () => {
    expect(listChainEnds({ z: 'y', y: 'b', c: 'b', b: 'a', a: 'c', x: 'c' })).toEqual({
      z: 'b',
      y: 'b',
      a: 'a',
      b: 'b',
      c: 'c',
      x: 'c',
    });
    expect(listChainEnds({ a: 'a', b: 'a' })).toEqual({ a: 'a', b: 'a' });
  });
});

/** The number of times that a parent is asked for. */
function countParentSteps(size: number, parentOf: (place: number) => number | null): number {
  let count = 0;
  const ids = Array.from({ length: size }, (_, i) => String(i));
  findChainEnds(ids, (id) => {
    count++;
    const parent = parentOf(Number(id));
    return parent === null ? null : String(parent);
  });
  return count;
}

test.each<[string, (size: number) => (place: number) => number | null]>([
  ['a long chain', () => (place) => (place === 0 ? null : place - 1)],
  ['a long chain from its end', (size) => (place) => (place === size - 1 ? null : place + 1)],
  ['a long cycle', (size) => (place) => (place + 1) % size],
  ['a long chain below a cycle', () => (place) => Math.abs(place - 1)],
])('%s costs a step or two an id', (_, parentOf) => {
  for (const size of [1009, 2003]) expect(countParentSteps(size, parentOf(size))).toBeLessThanOrEqual(3 * size);
});
