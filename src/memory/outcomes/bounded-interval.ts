import { wilsonInterval } from '../../core/numbers/distributions.ts';
import { studentQuantile } from './mean-interval.ts';

/** The standard normal quantile of a 95 % interval. */
const Z = 1.959963984540054;

/**
 * 95 % interval of the mean of outcomes within a known range [a, b]; never beyond the range, never a point.
 *
 * Outcomes are scaled to [0, 1]: p = (mean - a) / (b - a), and s^2 is their sample variance. m = p (1 - p) is the
 * largest variance that outcomes of this mean can have.
 *
 * phi = min(1, (n s^2 / m + 1) / (n + 1)), or 1 where m = 0 or n <= 1
 *
 * z*^2 = min(z^2, phi t_{.975, n - 1}^2)
 *
 * interval = the shares q with |p - q| <= z* sqrt(q (1 - q) / n), scaled to [a, b]: Wilson's with z* in place of z.
 *
 * phi is the share of the largest variance, with one more observation of that variance counted.
 * Outcomes at both ends have s^2 >= m, so phi is 1 and the interval is Wilson's. No outcomes of this mean vary more,
 * so no interval is wider. Of many outcomes that vary less it approaches Student's. Source: wilson1927interval.
 *
 * @param mean within the range.
 * @param variance population variance.
 * @param count n, or the effective count of weighted outcomes, at least 1.
 */
export function computeBoundedInterval(
  mean: number,
  variance: number,
  count: number,
  [low, high]: readonly [low: number, high: number],
): readonly [low: number, high: number] {
  const width = high - low;
  const share = Math.min(1, Math.max(0, (mean - low) / width));
  const largest = share * (1 - share);
  const isMeasured = largest > 0 && count > 1;
  const part = isMeasured ? (variance / width / width / largest) * (count / (count - 1)) : 1;
  const phi = Math.min(1, (count * part + 1) / (count + 1));
  const quantile = phi === 1 ? Z : Math.min(Z, Math.sqrt(phi) * studentQuantile(count));
  const ends = wilsonInterval(share * count, count, quantile);
  const scaleEnd = (end: number) => low + end * width;
  return [Math.max(low, Math.min(mean, scaleEnd(ends.low))), Math.min(high, Math.max(mean, scaleEnd(ends.high)))];
}
