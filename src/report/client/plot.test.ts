import { expect, test } from 'vitest';
import { decimal, signed } from '../format.ts';
import { plainText, ticks } from './plot.ts';

test('ticks are round, inside the range, and written like every number', () => {
  expect(ticks(0.17, 0.53, decimal)).toEqual({
    tickvals: [0.2, expect.closeTo(0.3, 12), 0.4, 0.5],
    ticktext: ['.2', '.3', '.4', '.5'],
  });
  expect(ticks(-1, 1, signed)).toMatchObject({ ticktext: ['−1.0', '−.5', '0', '+.5', '+1.0'] });
  expect(ticks(0.493, 0.511, decimal)).toMatchObject({ ticktext: ['.495', '.500', '.505', '.510'] });
  expect(ticks(0, 0, signed)).toMatchObject({ ticktext: ['0'] });
});

test('a text is no markup to Plotly', () => {
  expect(plainText('<b>&lt;</b>')).toBe('&lt;b&gt;&amp;lt;&lt;/b&gt;');
});
