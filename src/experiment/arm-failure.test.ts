import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NotFiniteError } from '../core/errors.ts';
import { armFailure, hasOutcome, readOutcomes, writeFailure } from './arm-failure.ts';
import { resolveConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-failure-'));
afterAll(() => rmSync(folder, { recursive: true }));

const options = { candidates: [{ index: 'newest' }], relevance: { signals: ['recency'] } };
const { arms } = resolveConfig(
  {
    name: 'failures',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'one' },
    arms: ['one', 'two', 'three'].map((name) => ({ name, description: `the ${name}`, ...options })),
  },
  'test',
);

test('what an arm failed of is read back by its code and in one line; a fault of the program is told from ours', () => {
  expect(hasOutcome(folder, 'one')).toBe(false);
  writeFailure(folder, 'one', new NotFiniteError('score', 'arm one', Number.NaN));
  writeFailure(folder, 'three', new TypeError('x is not\n  a function'));
  expect(['one', 'two', 'three'].map((name) => hasOutcome(folder, name))).toEqual([true, false, true]);
  const expected = [
    { name: 'one', description: 'the one', code: 'NOT_FINITE', message: 'score is not finite at arm one: NaN' },
    { name: 'three', description: 'the three', code: 'UNEXPECTED', message: 'x is not; a function' },
  ];
  expect(readOutcomes(folder, arms)).toEqual({ records: [], failures: expected });
  expect(armFailure(arms[2]!, new TypeError('x is not\n  a function'))).toEqual(expected[1]);
});

test('what is no error is told as a text', () => {
  expect(armFailure(arms[0]!, 'stop')).toEqual({
    name: 'one',
    description: 'the one',
    code: 'UNEXPECTED',
    message: 'stop',
  });
});
