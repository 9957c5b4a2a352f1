import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import {
  assertFields,
  assertOrderable,
  type Field,
  meetsCondition,
  parseCondition,
  type ResultRow,
  sortRowsByField,
  translateField,
} from './result-rows.ts';

const buildResultRow = (fields: Readonly<Record<string, Field>>): ResultRow => new Map(Object.entries(fields));
const rows = [
  buildResultRow({ arm: 'bm25', 'mrr@10': 0.295, seed: 7, baseline: true }),
  buildResultRow({ arm: 'Hybrid + decay', 'mrr@10': 0.592, seed: 7, baseline: false, message: null }),
  buildResultRow({ arm: 'cosine=', 'mrr@10': 0.145, seed: 11, baseline: false }),
  buildResultRow({ arm: 'broken', seed: 11, message: 'NOT_FINITE: score' }),
];
const listKeptRows = (...conditions: string[]) =>
  rows
    .filter((one) => conditions.every((text) => meetsCondition(one, parseCondition(text))))
    .map((one) => one.get('arm'));

test.each([
  [['arm=bm25'], ['bm25']],
  [['arm!=bm25'], ['Hybrid + decay', 'cosine=', 'broken']],
  [['seed=7.0'], ['bm25', 'Hybrid + decay']],
  [['mrr@10>=0.295'], ['bm25', 'Hybrid + decay']],
  [['mrr@10<0.295'], ['cosine=']],
  [['mrr@10<=.295', 'seed<11'], ['bm25']],
  [['mrr@10!=0.592'], ['bm25', 'cosine=', 'broken']],
  [['arm ~ DECAY'], ['Hybrid + decay']],
  [['arm~='], ['cosine=']],
  [['baseline=true'], ['bm25']],
  [['message=NOT_FINITE: score'], ['broken']],
  [['mrr@10>nothing'], []],
  [['arm>c'], ['cosine=']],
])('%j keeps %j', (conditions, names) => {
  expect(listKeptRows(...conditions)).toEqual(names);
});

test('a text without an operator or field is refused', () => {
  for (const text of ['arm', '=bm25', ''])
    expect(() => parseCondition(text)).toThrow(
      new ValidationError(`not a condition: ${text}; write <field><operator><value> with one of != >= <= = < > ~`, {
        text,
      }),
    );
});

test.each(['mrr@10>=', 'mrr@10>=0,5', 'mrr@10<nothing', 'arm>'])('%s compares with nothing and is refused', (text) => {
  expect(() => assertOrderable(parseCondition(text), rows)).toThrow(ValidationError);
  expect(() => assertOrderable(parseCondition(text), rows)).toThrow(
    new RegExp(`^condition on .* has no (number|value): ${text}; compare with `),
  );
});

test.each(['mrr@10>=.5', 'mrr@10<1e-3', 'arm>c', 'arm=', 'mrr@10=', 'mrr@10!=x', 'mrr@10~0,5', 'zzz>a'])(
  '%s can be asked',
  (text) => {
    expect(() => assertOrderable(parseCondition(text), rows)).not.toThrow();
  },
);

test('numbers sort from the greatest, words from the first, absent ones last', () => {
  const listSortedArms = (by: string) => sortRowsByField(rows, by).map((one) => one.get('arm'));
  expect(listSortedArms('mrr@10')).toEqual(['Hybrid + decay', 'bm25', 'cosine=', 'broken']);
  expect(listSortedArms('-mrr@10')).toEqual(['cosine=', 'bm25', 'Hybrid + decay', 'broken']);
  expect(listSortedArms('arm')).toEqual(['Hybrid + decay', 'bm25', 'broken', 'cosine=']);
  expect(listSortedArms('-arm')).toEqual(['cosine=', 'broken', 'bm25', 'Hybrid + decay']);
  expect(listSortedArms('seed')).toEqual(['cosine=', 'broken', 'bm25', 'Hybrid + decay']);
});

test('a field that no row has is refused with the nearest', () => {
  expect(() => sortRowsByField(rows, 'mrr@1')).toThrow(
    new ValidationError('no run has the field: mrr@1; use mrr@10', { field: 'mrr@1' }),
  );
  expect(() => assertFields(['arm', 'zzz'], rows)).toThrow(/^no run has the field: zzz; use one of arm, .*$/);
});

test('a metric is found by names of other programs, and brackets may hold operators', () => {
  const named = [buildResultRow({ 'mrr@10': 1, 'mrr@10.low': 0, 'rbp(0.8,rel=2)': 0.5, hits: 3 })];
  expect(translateField('RR@10', named)).toBe('mrr@10');
  expect(translateField('RR@10.low', named)).toBe('mrr@10.low');
  expect(translateField('RBP(rel=2,p=0.8)', named)).toBe('rbp(0.8,rel=2)');
  for (const field of ['hits', 'nDCG@10', 'arms']) expect(translateField(field, named)).toBe(field);
  expect(() => translateField('ERR@10', named)).toThrow('metric has another meaning here: ERR@10');
  expect(parseCondition('RBP(rel=2,p=0.8)>=0.5')).toEqual({ field: 'RBP(rel=2,p=0.8)', operator: '>=', value: '0.5' });
  expect(parseCondition('arm=(x)')).toEqual({ field: 'arm', operator: '=', value: '(x)' });
});

test('a condition without an operator is refused, however many brackets it has', () => {
  expect(() => parseCondition('()'.repeat(5000))).toThrow(ValidationError);
  expect(() => parseCondition('('.repeat(5000))).toThrow(ValidationError);
});
