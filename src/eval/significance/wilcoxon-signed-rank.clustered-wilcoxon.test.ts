import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { buildSingletonClusters, groupIntoClusters } from '../intervals/mean-intervals.ts';
import { clusteredWilcoxon } from './wilcoxon-signed-rank.ts';

/** By the definition: ranks by counting, then every one of the 2^G ways to turn the signs of groups. */
function computeEnumeratedP(differences: readonly number[], labels: readonly string[]): number {
  const kept = differences.filter((difference) => difference !== 0).map(Math.abs);
  const rank = (size: number) => {
    const below = kept.filter((other) => other < size).length;
    const equal = kept.filter((other) => other === size).length;
    return below + (equal + 1) / 2;
  };
  const names = [...new Set(labels)];
  const sums = names.map((name) =>
    differences.reduce(
      (sum, d, i) => (labels[i] === name && d !== 0 ? sum + Math.sign(d) * rank(Math.abs(d)) : sum),
      0,
    ),
  );
  const observed = Math.abs(sums.reduce((total, sum) => total + sum, 0));
  let extreme = 0;
  for (let signs = 0; signs < 2 ** names.length; signs++) {
    const flipped = sums.reduce((total, sum, g) => total + ((signs >> g) & 1 ? -sum : sum), 0);
    if (Math.abs(flipped) >= observed - 1e-9) extreme++;
  }
  return extreme / 2 ** names.length;
}

const stream = createRandom(13, 'clustered-wilcoxon test');
/** Rounded, so that there are ties and zeros. */
const drawTiedValues = (count: number, shift: number) =>
  Array.from({ length: count }, () => Math.round(4 * (stream.drawNormal() + shift)) / 4);
const buildLabels = (count: number, groups: number) => Array.from({ length: count }, (_, i) => `g${(i * i) % groups}`);

test('is exact for few groups', () => {
  for (const shift of [0, 0.4, 1]) {
    const differences = drawTiedValues(37, shift);
    const labels = buildLabels(37, 19); // squares modulo 19: 10 groups
    expect(new Set(labels).size).toBe(10);
    expect(clusteredWilcoxon(differences, groupIntoClusters(labels))).toBeCloseTo(
      computeEnumeratedP(differences, labels),
      12,
    );
  }
});

test('comes near the exact p for more', () => {
  for (const shift of [0.1, 0.3, 0.5]) {
    const differences = drawTiedValues(61, shift);
    const labels = buildLabels(61, 31); // 16 groups
    expect(new Set(labels).size).toBe(16);
    const exact = computeEnumeratedP(differences, labels);
    expect(Math.abs(clusteredWilcoxon(differences, groupIntoClusters(labels)) - exact)).toBeLessThan(0.03);
  }
});

test('with groups of one it is the test of scipy', () => {
  const differences = [0.12, -0.31, 0.44, 0.27, -0.05, 0.61, 0.33, -0.18, 0.09, 0.52, 0.4];
  // scipy 1.17.1: wilcoxon(differences), exact
  expect(clusteredWilcoxon(differences, buildSingletonClusters(11))).toBeCloseTo(0.0537109375, 10);
});

test('a system that equals the baseline has p 1', () => {
  expect(clusteredWilcoxon(new Array(6).fill(0), groupIntoClusters(['x', 'x', 'y', 'y', 'z', 'z']))).toBe(1);
});

test('under the null hypothesis it rejects about as often as it says where clusters are correlated', () => {
  const labels = Array.from({ length: 29 * 5 }, (_, i) => `g${i % 29}`);
  const clusters = groupIntoClusters(labels);
  let [clustered, independent] = [0, 0];
  const DRAWS = 300;
  for (let i = 0; i < DRAWS; i++) {
    const shared = Array.from({ length: 29 }, () => stream.drawNormal());
    const differences = Float64Array.from(clusters.of, (g) => (shared[g] as number) + 0.3 * stream.drawNormal());
    if (clusteredWilcoxon(differences, clusters) < 0.05) clustered++;
    if (clusteredWilcoxon(differences, buildSingletonClusters(29 * 5)) < 0.05) independent++;
  }
  expect(clustered / DRAWS).toBeLessThan(0.09);
  expect(independent / DRAWS).toBeGreaterThan(0.2);
});

test('few groups of one are tested exactly where there are ties too', () => {
  expect(clusteredWilcoxon([0.5, 0.5, 0.5, 0.5, 0.5], buildSingletonClusters(5))).toBe(2 / 2 ** 5);
  const differences = [0.5, -0.25, 0.5, 1, -0.25, 0.75, 0.5];
  const labels = differences.map((_, i) => `g${i}`);
  expect(clusteredWilcoxon(differences, buildSingletonClusters(7))).toBeCloseTo(
    computeEnumeratedP(differences, labels),
    12,
  );
});

test('a difference that is not finite is refused', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => clusteredWilcoxon([0.5, value, 0.25], groupIntoClusters(['x', 'y', 'x']))).toThrow(NotFiniteError);
});
