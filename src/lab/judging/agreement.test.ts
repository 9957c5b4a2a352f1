import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createQrels } from '../../eval/trec/run-tables.ts';
import { compareJudges, passesGate } from './agreement.ts';

const FIRST = createQrels({ q1: { a: 3, b: 0, c: 1 }, q2: { a: 2, d: 0 } });

test('figures are of the pairs that both judged, whatever the order of the files', () => {
  const second = createQrels({ q2: { d: 1, a: 2, z: 3 }, q1: { b: 0, a: 3 } });
  const agreement = compareJudges(FIRST, second);
  expect(agreement).toMatchObject({ pairs: 4, onlyFirst: 1, onlySecond: 1, observed: 0.75, means: [5 / 4, 6 / 4] });
  expect(agreement.confusion).toEqual([
    [1, 1, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ]);
  // expected agreement: grade 0 2/4 x 1/4, grade 2 and 3 1/4 x 1/4 each
  expect(agreement.kappa).toBeCloseTo((0.75 - 4 / 16) / (1 - 4 / 16), 14);
  expect(agreement.quadraticKappa).toBeGreaterThan(agreement.kappa as number);
});

test('the gate opens at a kappa of .6 and above, and never without a kappa', () => {
  const perfect = compareJudges(FIRST, FIRST);
  expect(perfect).toMatchObject({ kappa: 1, linearKappa: 1, quadraticKappa: 1 });
  expect(passesGate({ ...perfect, kappa: 0.6 })).toBe(true);
  expect(passesGate({ ...perfect, kappa: 0.5999 })).toBe(false);
  expect(passesGate({ ...perfect, kappa: 0.5999 }, 0.5)).toBe(true);
  const constant = createQrels({ q1: { a: 1, b: 1 } });
  expect(compareJudges(constant, constant)).toMatchObject({ observed: 1, kappa: null, quadraticKappa: null });
  expect(passesGate(compareJudges(constant, constant))).toBe(false);
  const strangers = compareJudges(FIRST, createQrels({ q3: { a: 1 } }));
  expect(strangers).toMatchObject({ pairs: 0, observed: null, means: null, kappa: null });
  expect(passesGate(strangers)).toBe(false);
});

test('a grade beyond the scale is an error that names the pair', () => {
  const beyond = createQrels({ q1: { a: 4 } });
  expect(() => compareJudges(FIRST, beyond)).toThrow(ValidationError);
  expect(() => compareJudges(FIRST, beyond)).toThrow(/document a for query q1 is not one of 0, 1, 2, 3: 4/);
});
