import { expect, test } from 'vitest';
import { random } from '../core/random.ts';
import { clusterBy } from './clusters.ts';
import { compareWithBaseline } from './significance.ts';

const stream = random(7, 'test');
const clusters = clusterBy(Array.from({ length: 211 }, (_, i) => `g${i % 53}`));
const baseline = Float64Array.from({ length: 211 }, () => stream.uniform());
const shiftedBy = (shift: number) => baseline.map((value) => value + shift + 0.3 * stream.normal());
const options = { samples: 1999, seed: 3 };

test('marks only what the corrected p allows', () => {
  const systems = [shiftedBy(0.2), shiftedBy(-0.2), baseline, shiftedBy(0)];
  const comparisons = compareWithBaseline(systems, baseline, clusters, options);
  expect(comparisons.map(({ verdict }) => verdict)).toEqual(['better', 'worse', 'undecided', 'undecided']);
  const [better, worse, same] = comparisons;
  expect(better?.p).toBe(1 / 2000);
  expect(better?.correctedP).toBe(4 / 2000);
  expect(better?.difference.low).toBeGreaterThan(0);
  expect(worse?.difference.high).toBeLessThan(0);
  expect(same).toMatchObject({ difference: { mean: 0, low: 0, high: 0 }, p: 1, correctedP: 1 });
});

test('the more systems, the more evidence a mark needs', () => {
  const slight = shiftedBy(0.055);
  const [alone] = compareWithBaseline([slight], baseline, clusters, options);
  expect(alone?.verdict).toBe('better');
  expect(alone?.correctedP).toBe(alone?.p);
  const crowd = Array.from({ length: 19 }, () => baseline);
  const [crowded] = compareWithBaseline([slight, ...crowd], baseline, clusters, options);
  expect(crowded?.p).toBe(alone?.p);
  expect(crowded?.correctedP).toBeCloseTo(20 * (alone?.p as number), 12);
  expect(crowded?.verdict).toBe('undecided');
});
