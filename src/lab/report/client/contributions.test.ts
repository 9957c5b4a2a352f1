import { expect, test } from 'vitest';
import { inventResult } from '../page/invented-result.fixture.ts';
import { buildHandmadeArm } from '../page/page.harness.ts';
import { buildPayload } from '../page/payload.ts';
import { buildStacks, layOutSegments } from './contributions.ts';

const arm = buildHandmadeArm('a', {
  contributionNames: ['relevance', 'decay', 'rcp'],
  contributions: [[4, -3, 1, 2, -1, 0], [], [0, 0, 0]],
});

test('positive parts lie to the right of 0 and negative ones to the left, all places on one scale', () => {
  const stacks = buildStacks(arm, 0);
  expect(stacks).toMatchObject({ low: -3, high: 5 });
  expect(stacks && layOutSegments(stacks, 0)).toEqual([
    { name: 'relevance', value: 4, start: 3 / 8, width: 4 / 8 },
    { name: 'decay', value: -3, start: 0, width: 3 / 8 },
    { name: 'rcp', value: 1, start: 7 / 8, width: 1 / 8 },
  ]);
  // a part of 0 has no segment
  expect(stacks && layOutSegments(stacks, 1).map(({ name }) => name)).toEqual(['relevance', 'decay']);
});

test('a query without candidates and an arm without parts have no bars', () => {
  expect(buildStacks(arm, 1)).toBeNull();
  expect(buildStacks(buildHandmadeArm('b'), 0)).toBeNull();
  const stacks = buildStacks(arm, 2);
  expect(stacks && layOutSegments(stacks, 0)).toEqual([]);
});

test('the segments of the page add up to the scores that it shows', () => {
  const { arms, queries } = buildPayload(inventResult(19, { arms: 5, threads: 7, turnsAThread: 5, top: 3 }));
  let compared = 0;
  for (const one of arms)
    for (const query of queries.keys()) {
      const stacks = buildStacks(one, query);
      const width = 2 + one.components.length;
      for (const place of stacks?.parts.keys() ?? []) {
        const sum = layOutSegments(stacks as NonNullable<typeof stacks>, place).reduce((a, { value }) => a + value, 0);
        expect(Math.abs(sum - (one.rankings?.[query]?.[place * width + 1] ?? Number.NaN))).toBeLessThan(1e-4);
        compared++;
      }
    }
  expect(compared).toBeGreaterThan(100);
});
