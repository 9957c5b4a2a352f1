import { expect, test } from 'vitest';
import { listInformationFalls } from './information-falls.ts';
import { buildHandmadeMeasured } from './measured-corpus.fixture.ts';
import { buildSaliences } from './salience.ts';
import { findingsSettings } from './settings.ts';

const measured = buildHandmadeMeasured();
const { corpus, conversations } = measured;

function computeInformation(weights: readonly number[]): number {
  const total = weights.reduce((a, b) => a + b, 0);
  return -weights.reduce((sum, weight) => sum + (weight / total) * Math.log(weight / total), 0);
}

/** How far information falls with each message that comes to others, in float64 from the start each time; negative where it rises. */
function computeDefinedFalls(
  memories: readonly (readonly number[])[],
  weightOf: (position: number) => number,
): number[] {
  return memories.flatMap((positions) => {
    const weights = positions.map(weightOf);
    return weights
      .slice(1)
      .map((_, i) => computeInformation(weights.slice(0, i + 1)) - computeInformation(weights.slice(0, i + 2)));
  });
}

test('every fall is counted, in threads and in the corpus', () => {
  const weighMessage = (position: number) => (position % 7 === 5 ? 97 : 1);
  const [threads, whole] = listInformationFalls(measured, [{ name: 'uneven', of: weighMessage }]);
  const expected = {
    'each thread': computeDefinedFalls(
      conversations.map((positions) => [...positions]),
      weighMessage,
    ),
    'the whole corpus': computeDefinedFalls([[...corpus.turns.keys()]], weighMessage),
  };
  expect(threads?.additions).toBe(corpus.size - conversations.length);
  expect(whole?.additions).toBe(corpus.size - 1);
  for (const got of [threads, whole]) {
    const changes = expected[got?.memory as keyof typeof expected];
    expect(got?.falls).toBe(changes.filter((fall) => fall > 1e-9).length);
    expect(got?.falls).toBeGreaterThan(0);
    expect(got?.greatest).toBeCloseTo(Math.max(...changes), 9);
  }
});

test('the saliences are those of the memories that drift', () => {
  const [equal, fading, later] = buildSaliences(measured, findingsSettings.parse({ halfLifeDays: 3 }));
  expect([0, 23].map(equal.of)).toEqual([1, 1]);
  expect(fading.name).toBe('halving every 3 days');
  expect(fading.of(10) / fading.of(1)).toBeCloseTo(2 ** 3, 9); // a message a day
  expect([...(conversations[0] ?? [])].map(later.of)).toEqual([1, 2, 3, 4, 5]);
  const [even] = listInformationFalls(measured, [equal]);
  expect(even).toMatchObject({ falls: 0, greatest: 0 });
});
