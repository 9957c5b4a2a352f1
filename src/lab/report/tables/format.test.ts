import { expect, test } from 'vitest';
import {
  estimate,
  formatDecimal,
  formatDuration,
  formatFate,
  formatInterval,
  formatMinute,
  formatProbability,
  formatSigned,
  formatSignificant,
} from './format.ts';

test('decimals have no leading zero, a true minus, and no negative zero', () => {
  expect([0.4961, 1, -0.03, 0, -0.0004, 12.3456, -1.5].map((value) => formatDecimal(value, 3))).toEqual([
    '.496',
    '1.000',
    '−.030',
    '.000',
    '.000',
    '12.346',
    '−1.500',
  ]);
  expect(formatDecimal(0.996, 2)).toBe('1.00');
});

test('a sign is given to what is not zero as written', () => {
  expect([0.034, -0.034, 0, 0.0004].map((value) => formatSigned(value, 3))).toEqual(['+.034', '−.034', '.000', '.000']);
});

test('scores of any size keep four significant digits', () => {
  expect([0, 0.016393, 12.3456, 0.98765, -1234.56, 0.00012345, 0.0000123, 4_560_000].map(formatSignificant)).toEqual([
    '0',
    '.01639',
    '12.35',
    '.9877',
    '−1235',
    '.00012',
    '1.2e−5',
    '4.6e6',
  ]);
});

test('a p is never written as zero', () => {
  expect([0, 0.00099, 0.001, 0.0456, 1].map(formatProbability)).toEqual(['<.001', '<.001', '.001', '.046', '1.000']);
});

test('times are in UTC, spans in their largest fitting unit', () => {
  expect(formatMinute(Date.UTC(2002, 7, 22, 12, 36, 59))).toBe('2002-08-22 12:36');
  expect([40, 600, 11_520, 1_036_800].map((seconds) => formatDuration(1000 * seconds))).toEqual([
    '40 s',
    '10 min',
    '3.2 h',
    '12 d',
  ]);
});

test('a p that is below the bound is never written as the bound', () => {
  expect([0.0496, 0.04996, 0.0494, 0.05, 0.0504].map((p) => formatProbability(p, 1 - 0.95))).toEqual([
    '.0496',
    '.04996',
    '.049',
    '.050',
    '.050',
  ]);
  expect(formatProbability(0.0496)).toBe('.050');
});

test('fusion is called relevance, the slice inadmissible, other stages by their names', () => {
  expect(['kept', 'slice', 'fusion', 'rerank'].map(formatFate)).toEqual([
    'kept',
    'inadmissible',
    'relevance',
    'rerank',
  ]);
});

test('an interval follows its mean in brackets, and is left out where there is none', () => {
  expect(estimate({ mean: 0.4961, low: 0.4666, high: 0.52 }, formatDecimal, 2)).toBe('.496 [.47, .52]');
  expect(estimate({ mean: -0.03, low: -0.0512, high: 0.0004 }, formatSigned, 3)).toBe('−.030 [−.051, .000]');
  expect(estimate({ mean: 0.25, low: null, high: null }, formatSigned, 3)).toBe('+.250');
  expect(formatInterval({ low: null, high: null }, formatDecimal, 2)).toBe('');
});
