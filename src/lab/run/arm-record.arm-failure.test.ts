import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChecksumMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import { resolveConfig } from '../config/config.ts';
import {
  buildArmFailure,
  hasOutcome,
  joinFailurePath,
  readOutcomes,
  recordPath,
  removeDamagedOutcomes,
  writeFailure,
} from './arm-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-failure-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { arms } = resolveConfig(
  {
    name: 'failures',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'one' },
    arms: Object.fromEntries(
      ['one', 'two', 'three'].map((name) => [
        name,
        { description: `the ${name}`, steps: [{ search: { newest: {} } }] },
      ]),
    ),
  },
  'test',
);

test('the error of an arm is read back by its code and in one line, also an error of the program', () => {
  expect(hasOutcome(folder, 'one')).toBe(false);
  writeFailure(folder, 'one', new NotFiniteError('score', 'arm one', Number.NaN));
  writeFailure(folder, 'three', new TypeError('x is not\n  a function'));
  expect(['one', 'two', 'three'].map((name) => hasOutcome(folder, name))).toEqual([true, false, true]);
  const expected = [
    {
      name: 'one',
      description: 'the one',
      code: 'NOT_FINITE',
      message: new NotFiniteError('score', 'arm one', Number.NaN).message,
    },
    { name: 'three', description: 'the three', code: 'UNEXPECTED', message: 'x is not; a function' },
  ];
  expect(readOutcomes(folder, arms)).toEqual({ records: [], failures: expected });
  expect(buildArmFailure(arms[2]!, new TypeError('x is not\n  a function'))).toEqual(expected[1]);
});

test('a thrown value that is no error is reported as a text', () => {
  expect(buildArmFailure(arms[0]!, 'stop')).toEqual({
    name: 'one',
    description: 'the one',
    code: 'UNEXPECTED',
    message: 'stop',
  });
});

test('outcomes that were cut short are removed, and the others stay', () => {
  for (const name of ['one', 'two', 'three']) writeFailure(folder, name, new NotFiniteError('score', name, Number.NaN));
  const whole = readFileSync(joinFailurePath(folder, 'two'));
  writeFileSync(joinFailurePath(folder, 'two'), whole.subarray(0, whole.length / 2));
  writeFileSync(recordPath(folder, 'three'), whole);
  expect(() => readOutcomes(folder, arms)).toThrow(ChecksumMismatchError);
  expect(() => readOutcomes(folder, arms)).toThrow(
    `damaged file ${joinFailurePath(folder, 'two')}: not the failure of an arm; run again with --resume to run its arm again`,
  );
  expect(removeDamagedOutcomes(folder, ['one', 'two', 'three', 'none'])).toEqual(['two', 'three']);
  expect(['one', 'two', 'three'].map((name) => hasOutcome(folder, name))).toEqual([true, false, false]);
  expect(removeDamagedOutcomes(folder, ['one', 'two', 'three'])).toEqual([]);
});
