import { expect, test } from 'vitest';
import type { ArmResult } from '../../measure/result.ts';
import { inventResult } from '../page/invented-result.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { describeLatency, listLatencyRows } from './side-tables.ts';

const result = inventResult(19, { arms: 3, threads: 7, turnsAThread: 5, top: 3 });
const [first, second, ...others] = result.arms as [ArmResult, ArmResult, ...ArmResult[]];
const buildPercentiles = (p50: number) => ({ p50, p95: 2 * p50, p99: 3 * p50 });
const arms = [
  {
    ...first,
    latency: { pool: buildPercentiles(1), 'compose and rank': buildPercentiles(2), total: buildPercentiles(3) },
  },
  {
    ...second,
    latency: {
      pool: buildPercentiles(4),
      decay: buildPercentiles(0.125),
      'compose and rank': buildPercentiles(5),
      total: buildPercentiles(9.5),
    },
  },
  ...others.map((arm) => ({ ...arm, latency: null })),
];

test('a row a component in the order of the steps, the whole last, a column a timed arm', () => {
  expect(listLatencyRows(arms)).toEqual([
    ['p50 / p95 / p99 ms', first.name, second.name],
    ['pool', '1.00 / 2.00 / 3.00', '4.00 / 8.00 / 12.00'],
    ['decay', '—', '.13 / .25 / .38'],
    ['compose and rank', '2.00 / 4.00 / 6.00', '5.00 / 10.00 / 15.00'],
    ['total', '3.00 / 6.00 / 9.00', '9.50 / 19.00 / 28.50'],
  ]);
});

test('that arms were timed beside each other is said, where any was', () => {
  expect(describeLatency({ arms, armsAtOnce: 1 })).toBe(null);
  expect(describeLatency({ arms: result.arms, armsAtOnce: 3 })).toBe(null);
  expect(describeLatency({ arms, armsAtOnce: 3 })).toMatch(/^Up to 3 arms were timed beside each other/);
});

test('the Markdown table has the times, where there are any', () => {
  const text = renderMarkdown({ ...result, arms, armsAtOnce: 3 });
  expect(text).toContain('\n| decay ');
  expect(text).toContain('Up to 3 arms were timed');
  expect(renderMarkdown(result)).not.toContain('Milliseconds');
});
