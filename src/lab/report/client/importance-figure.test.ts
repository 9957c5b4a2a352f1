import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import { MOST_FIGURE_ROWS } from '../tables/format.ts';
import { buildFamilyTrace, selectShownFamilies } from './importance-figure.ts';

beforeAll(() => openPage(1400));

const buildFamily = (name: string, first: number, second: number, decided = true) => ({
  name,
  differences: [
    [first, first - 0.25, first + 0.125, 0.03, decided] as const,
    [second, second - 0.25, second + 0.125, 0.07, false] as const,
  ],
});

test('what is missed most stands first, by the metric that is asked for', () => {
  const families = [buildFamily('a', -0.1, 0.2), buildFamily('b', 0.3, -0.4), buildFamily('c', -0.2, 0)];
  const listFamilyNames = (metric: number) => selectShownFamilies(families, metric).map(({ name }) => name);
  expect(listFamilyNames(0)).toEqual(['c', 'a', 'b']);
  expect(listFamilyNames(1)).toEqual(['b', 'c', 'a']);
});

test('of many families those are shown that change most, either way', () => {
  const families = Array.from({ length: 43 }, (_, at) => buildFamily(String(at), at % 2 === 0 ? at : -at, 0));
  const shown = selectShownFamilies(families, 0).map(({ name }) => Number(name));
  expect(shown).toHaveLength(MOST_FIGURE_ROWS);
  expect(Math.min(...shown)).toBe(43 - MOST_FIGURE_ROWS);
  expect([shown[0], shown.at(-1)]).toEqual([41, 42]);
});

test.each([
  ['missed', -0.5, true, '#12608f', 'circle'],
  ['better without', 0.5, true, '#ad4513', 'circle'],
  ['undecided', -0.5, false, '#7a756c', 'circle-open'],
])('a family that is %s', (_, difference, decided, color, symbol) => {
  expect(buildFamilyTrace(buildFamily('a & b', difference, 0, decided), 5, 0, 0.05, 1)).toMatchObject({
    x: [difference],
    y: [5],
    error_x: { arrayminus: [0.25], array: [0.125], color },
    marker: { color, symbol },
    text: [expect.stringMatching(/^without a &amp; b<br>[+−]\.500 \[.*\], p \.030$/)],
  });
});
