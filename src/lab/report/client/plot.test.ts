import { expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import { formatDecimal, formatSigned } from '../tables/format.ts';
import {
  buildLegendAbove,
  buildNamedLevel,
  buildRoundTicks,
  buildWholeTicks,
  escapePlotlyText,
  shortenMiddle,
} from './plot.ts';

test('ticks are round, inside the range, and written like every number', () => {
  expect(buildRoundTicks(0.17, 0.53, formatDecimal)).toEqual({
    tickvals: [0.2, expect.closeTo(0.3, 12), 0.4, 0.5],
    ticktext: ['.2', '.3', '.4', '.5'],
  });
  expect(buildRoundTicks(-1, 1, formatSigned)).toMatchObject({ ticktext: ['−1.0', '−.5', '0', '+.5', '+1.0'] });
  expect(buildRoundTicks(0.493, 0.511, formatDecimal)).toMatchObject({ ticktext: ['.495', '.500', '.505', '.510'] });
  expect(buildRoundTicks(0, 0, formatSigned)).toMatchObject({ ticktext: ['0'] });
});

test('whole numbers from 0 are ticks, nine at most', () => {
  const listTicksTo = (high: number) => (buildWholeTicks(high) as { tickvals: number[] }).tickvals;
  expect(listTicksTo(0)).toEqual([0]);
  expect(listTicksTo(3)).toEqual([0, 1, 2, 3]);
  expect(listTicksTo(8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(listTicksTo(9)).toEqual([0, 2, 4, 6, 8]);
  expect(listTicksTo(200)).toEqual([0, 50, 100, 150, 200]);
  for (let high = 0; high < 300; high++) {
    expect(listTicksTo(high).length).toBeLessThanOrEqual(9);
    expect(listTicksTo(high).every(Number.isInteger)).toBe(true);
  }
  expect(buildWholeTicks(2)).toMatchObject({ ticktext: ['0', '1', '2'] });
});

test('a text is no markup to Plotly', () => {
  expect(escapePlotlyText('<b>&lt;</b>')).toBe('&lt;b&gt;&amp;lt;&lt;/b&gt;');
});

test('a name without room loses its middle', () => {
  expect(shortenMiddle('abcdefg', 7)).toBe('abcdefg');
  expect(shortenMiddle('abcdefgh', 7)).toBe('abc…fgh');
  expect(shortenMiddle('abcdefgh', 6)).toBe('abc…gh');
});

test('the title of a legend is beside it, and above it on a narrow page', () => {
  openPage(1400);
  expect(buildLegendAbove('a & b')).toMatchObject({ legend: { title: { text: 'a &amp; b  ', side: 'left' } } });
  openPage(420);
  expect(buildLegendAbove('a')).toMatchObject({ legend: { title: { side: 'top' } } });
});

test('a level is a line with a name', () => {
  openPage(1400);
  expect(buildNamedLevel(0.37, '<a>')).toMatchObject({
    shapes: [{ x0: 0, x1: 1, y0: 0.37, y1: 0.37, line: { dash: 'dot' } }],
    annotations: [{ y: 0.37, text: '&lt;a&gt;' }],
  });
});
