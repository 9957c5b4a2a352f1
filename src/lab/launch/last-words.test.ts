import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { findLastWords } from './last-words.ts';

/** What Node says of a program that dies. */
function captureComplaint(program: string, ...options: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...options, '-e', program], (_, __, stderr) => resolve(stderr));
  });
}

test('a heap that overflows is reported', async () => {
  const hoard = 'const held = []; for (;;) held.push(new Array(1000).fill(held.length));';
  const complaint = await captureComplaint(hoard, '--max-old-space-size=31');
  expect(complaint.trim().split('\n').at(-1)).not.toContain('heap');
  expect(findLastWords(complaint)).toMatch(/^FATAL ERROR: .*heap out of memory$/);
  expect(findLastWords(complaint.slice(-4000))).toBe(findLastWords(complaint));
});

test.each([
  ['throw new RangeError("of 7")', 'RangeError: of 7'],
  ['throw new Error("of 7")', 'Error: of 7'],
  ['class OwnError extends Error {}; const fail = () => { throw new OwnError("of 7"); }; fail()', 'Error: of 7'],
  ['Promise.reject(new TypeError("of 7"))', 'TypeError: of 7'],
  ['process.stderr.write("ragpp [STORAGE]: cannot write: /x\\nbye\\n")', 'ragpp [STORAGE]: cannot write: /x'],
  [
    'process.stderr.write("ragpp [CONFIGURATION]: 2 errors in c.yaml; correct and run again:\\n  a: expected 1\\n  b: expected 2\\n")',
    'ragpp [CONFIGURATION]: 2 errors in c.yaml; correct and run again: a: expected 1',
  ],
  ['process.stderr.write("one\\r\\ntwo\\r\\n\\r\\n")', 'two'],
  ['', ''],
])('%s: %s', async (program, words) => {
  expect(findLastWords(await captureComplaint(program))).toBe(words);
});

test('what Slurm says of a task that it ended goes before what the task had said', () => {
  const limit = 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED DUE TO TIME LIMIT ***';
  expect(findLastWords(`ragpp: arm a failed [X]: y\n${limit}\nsrun: done\n`)).toBe(limit);
});

test('a place in code is no reason, though it names an error', () => {
  expect(findLastWords('assertion failed\n    at new ValidationError (errors.ts:7)\n\nNode.js v20.1.0\n')).toBe(
    'assertion failed',
  );
});
