import { expect, test } from 'vitest';
import { IrcThreads } from './irc.ts';

/**
 * 2 <- 3 <- 7, 5 <- 7 <- 13 <- 17, 5 <- 11, 19 alone; line 23 answers the system line 20, which answers 13 and 19, and 20's answer 13 itself too is answered by 29.
 */
const threads = new IrcThreads(
  [2, 3, 5, 7, 11, 13, 17, 19, 23, 29],
  new Map([
    [3, [2]],
    [7, [3, 5]],
    [11, [5]],
    [13, [7]],
    [17, [13]],
    [20, [13, 19]],
    [23, [20]],
    [29, [13, 20]],
  ]),
);

test('a message hangs from the nearest of those that it answers', () => {
  expect(threads.getParents(7)).toEqual({ direct: [3, 5], lifted: [] });
  expect([2, 3, 5, 7, 11, 19].map((line) => threads.findNearestParent(line))).toEqual([null, 2, null, 5, 5, null]);
  expect([3, 7, 17, 19].map((line) => threads.findTreeRoot(line))).toEqual([2, 5, 5, 19]);
});

test('what answers a line that is no message hangs from what that one answers, without answering it', () => {
  expect(threads.getParents(23)).toEqual({ direct: [], lifted: [13, 19] });
  expect(threads.findNearestParent(23)).toBe(19);
  expect(threads.getParents(29)).toEqual({ direct: [13], lifted: [19] });
  expect(threads.findNearestParent(29)).toBe(13);
  expect(threads.getParents(20)).toEqual({ direct: [], lifted: [] });
});

test('grades all parents, all ancestors, and the earlier rest of the connected component', () => {
  const listLineGrades = (line: number) => Object.fromEntries(threads.gradeCandidates(line));
  expect(listLineGrades(17)).toEqual({ 2: 2, 3: 2, 5: 2, 7: 2, 11: 1, 13: 3 });
  expect(listLineGrades(7)).toEqual({ 2: 2, 3: 3, 5: 3 });
  expect(listLineGrades(29)).toEqual({ 2: 2, 3: 2, 5: 2, 7: 2, 11: 1, 13: 3, 17: 1, 19: 2, 23: 1 });
  expect(listLineGrades(2)).toEqual({});
  expect(listLineGrades(5)).toEqual({ 2: 1, 3: 1 });
});

test('a hundred lines that are no messages, each of which answers the two before it, are looked at once each', () => {
  const lines = Array.from({ length: 100 }, (_, i) => i + 2);
  const answers = new Map([...lines.map((line): [number, number[]] => [line, [line - 2, line - 1]]), [102, [101]]]);
  expect(new IrcThreads([0, 1, 102], answers).getParents(102)).toEqual({ direct: [], lifted: [0, 1] });
});

test('a chain of 20,000 lines that are no messages, or that are messages, is read to its root', () => {
  const size = 20_000;
  const answers = new Map(Array.from({ length: size }, (_, i) => [i + 1, [i]]));
  expect(new IrcThreads([0, size], answers).getParents(size)).toEqual({ direct: [], lifted: [0] });
  const messages = Array.from({ length: size + 1 }, (_, i) => i);
  expect(new IrcThreads(messages, answers).findTreeRoot(size)).toBe(0);
});
