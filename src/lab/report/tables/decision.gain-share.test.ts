import { expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { buildHandmadeArms, buildHandmadeControl, withBaseline } from './controls.fixture.ts';
import { computeGainShare, formatGainShare } from './decision.ts';

const METRIC = 'recall@10';

test.each([
  ['a part of it', 0.5, 0.75, 0.625, 0.5],
  ['all of it', 0.5, 0.75, 0.5, 1],
  ['more, as it is below the baseline', 0.5, 0.75, 0.375, 1.5],
  ['less than nothing, as it is above what was learned', 0.5, 0.75, 0.8125, -0.25],
])('a control takes away %s', (_, baseline, learned, control, share) => {
  expect(
    computeGainShare(buildHandmadeArms(baseline, learned), buildHandmadeControl('time', learned, control), METRIC),
  ).toBe(share);
});

test.each([
  ['is as good as the baseline', 0.5],
  ['is worse', 0.25],
  ['is better by no more than rounding', 0.5 + 2 ** -50],
])('there is no share where what was learned %s', (_, learned) => {
  expect(
    computeGainShare(buildHandmadeArms(0.5, learned), buildHandmadeControl('time', learned, 0.125), METRIC),
  ).toBeNull();
});

test('there is no share where the exchange changes the baseline too', () => {
  const control = withBaseline(buildHandmadeControl('time', 0.75, 0.625), -0.125);
  expect(computeGainShare(buildHandmadeArms(0.5, 0.75), control, METRIC)).toBeNull();
});

test('what is not there is refused', () => {
  const arms = buildHandmadeArms(0.5, 0.75);
  const control = buildHandmadeControl('time', 0.75, 0.5);
  expect(() => computeGainShare(arms, control, 'mrr@7')).toThrow(
    new ValidationError('learned has no comparison in metric: mrr@7; measure the arms again', { metric: 'mrr@7' }),
  );
  expect(() => computeGainShare(arms, { ...control, comparisons: {} }, METRIC)).toThrow(
    /^time has no comparison in metric: recall@10; measure the arms again$/,
  );
  expect(() => computeGainShare(arms.slice(0, 1), control, METRIC)).toThrow(
    /^no arm is learned, only hand-tuned; train again$/,
  );
});

test.each([
  [0.4251, '43 %'],
  [1.5, '150 %'],
  [-0.25, '−25 %'],
  [-0.001, '0 %'],
  [0, '0 %'],
  [null, ''],
])('a share of %s is written in per cent', (share, text) => {
  expect(formatGainShare(share)).toBe(text);
});
