import { expect, test } from 'vitest';
import { buildHandmadeMeasured, computeHandmadeCosine, splitMatrixRows, WIDTH } from './measured-corpus.fixture.ts';
import { gatherMessageVectors } from './measured-corpus.ts';
import { measureThreadEnergies, quantile } from './thread-energy.ts';

const measured = buildHandmadeMeasured();
const salience = { name: 'its place in the corpus', of: (position: number) => 1 + position };

/** Energy as the double sum that defines it. */
function computeDoubleSumEnergy(positions: Int32Array) {
  const total = positions.reduce((sum, position) => sum + 1 + position, 0);
  const shares = [...positions].map((position) => (1 + position) / total);
  const rows = splitMatrixRows(gatherMessageVectors(measured, positions), WIDTH);
  let energy = 0;
  for (const [i, a] of rows.entries())
    for (const [j, b] of rows.entries())
      energy += 0.5 * (shares[i] as number) * (shares[j] as number) * computeHandmadeCosine(a, b);
  return { energy, information: -shares.reduce((sum, share) => sum + share * Math.log(share), 0) };
}

test('a thread of each length, and all messages as one', () => {
  const energies = measureThreadEnergies(measured, salience);
  expect(energies.map(({ lengths }) => lengths)).toEqual(['1', '2', '3', '5', '13', '24']);
  const memories = [...measured.conversations].sort((a, b) => a.length - b.length);
  for (const [i, positions] of [...memories, Int32Array.from({ length: 24 }, (_, position) => position)].entries()) {
    const { energy, information } = computeDoubleSumEnergy(positions);
    const got = energies[i];
    for (const value of got?.energy ?? []) expect(value).toBeCloseTo(energy, 9);
    expect(got).toMatchObject({ conversations: 1, logCount: Math.log(positions.length) });
    expect(got?.coherence).toBeCloseTo(2 * energy, 9);
    expect(got?.information).toBeCloseTo(information, 9);
    expect(got?.excess).toBeCloseTo(information - Math.log(positions.length), 9);
  }
});

test('quantiles lie between values in proportion', () => {
  expect([0, 0.1, 0.5, 0.9, 1].map((share) => quantile([40, 10, 30, 20], share))).toEqual([10, 13, 25, 37, 40]);
  expect(quantile([7], 0.9)).toBe(7);
});
