import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, openPage } from '../page/page.harness.ts';
import { buildCeilingTrace, buildCurveTrace } from './evidence-figure.ts';

const arm = buildHandmadeArm('<a>', {
  evidence: {
    recall: [
      [0.4, 0.3, 0.55],
      [0.75, 0.7, 0.8],
    ],
    ceiling: [
      [0.9, 0.8, 1],
      [1, null, null],
    ],
  },
});

beforeAll(() => openPage(1400));

test('a line has the means with their whiskers, beside those of the other lines', () => {
  const [first, last] = [0, 2].map((at) => buildCurveTrace(arm, [250, 500], at, 3));
  expect(buildCurveTrace(arm, [250, 500], 1, 3)).toMatchObject({
    x: [250, 500],
    y: [0.4, 0.75],
    name: '&lt;a&gt;',
    text: ['&lt;a&gt;<br>250 tokens: .400 [.30, .55]', '&lt;a&gt;<br>500 tokens: .750 [.70, .80]'],
  });
  const { array, arrayminus } = first!.error_y;
  for (const [k, [above, below]] of [
    [0.15, 0.1],
    [0.05, 0.05],
  ].entries()) {
    expect(array[k]).toBeCloseTo(above!, 12);
    expect(arrayminus[k]).toBeCloseTo(below!, 12);
  }
  expect(first!.x[0]! * last!.x[0]!).toBeCloseTo(250 ** 2, 6);
  expect(first!.line.color).not.toBe(last!.line.color);
});

test('a mean without an interval has no whisker, a ceiling is dotted', () => {
  const { error_y } = buildCurveTrace({ ...arm, evidence: { recall: [[0.5, null, null]], ceiling: [] } }, [250], 0, 1);
  expect([error_y.array, error_y.arrayminus]).toEqual([[0], [0]]);
  expect(buildCeilingTrace(arm, [250, 500])).toMatchObject({
    name: 'ceiling of &lt;a&gt;',
    y: [0.9, 1],
    line: { dash: 'dot' },
  });
});
