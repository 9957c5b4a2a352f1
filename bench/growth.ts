/** The time for a size. */
interface SizedTime {
  readonly size: number;
  readonly seconds: number;
}

/** The exponent b of seconds = a size^b, by least squares of the logarithms: 1 is linear, 2 quadratic. NaN for fewer than two sizes. */
export function fitGrowthExponent(times: readonly SizedTime[]): number {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const x = times.map(({ size }) => Math.log(size));
  const y = times.map(({ seconds }) => Math.log(seconds));
  const [middleX, middleY] = [mean(x), mean(y)];
  const covariance = mean(x.map((value, i) => (value - middleX) * (y[i]! - middleY)));
  return covariance / mean(x.map((value) => (value - middleX) ** 2));
}

/** The ratio to the time for half the size; undefined if half the size was not measured. */
export function computeDoublingRatio(times: readonly SizedTime[], size: number): number | undefined {
  const findSeconds = (wanted: number) => times.find((time) => time.size === wanted)?.seconds;
  const [half, whole] = [findSeconds(size / 2), findSeconds(size)];
  return half === undefined || whole === undefined ? undefined : whole / half;
}
