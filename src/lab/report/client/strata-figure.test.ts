import { beforeAll, expect, test } from 'vitest';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { openPage } from '../page/page.harness.ts';
import { buildPayload } from '../page/payload.ts';
import * as app from './app.ts';
import { buildBranchTrace, listBranches } from './strata-figure.ts';

const result = inventSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 });
const payload = buildPayload(result);
const findUnifiedArm = (words: string) => payload.arms.findIndex(({ name }) => name === `unified | ${words}`);

beforeAll(() => openPage(1400));

test('the forest plot has all queries, then every level with its count and difference', () => {
  const state = app.createApp(payload);
  const arm = findUnifiedArm('weight=0.5, window=3, decay=off');
  app.choose(state, { right: arm, metric: 1 });
  const strata = result.arms.find(({ name }) => name === payload.arms[arm]?.name)?.strata;
  const [all, heading, users, developers] = listBranches(state);
  expect(all).toMatchObject({ label: 'all queries (14)', figures: payload.arms[arm]?.differences[1] });
  expect(heading).toEqual({ label: 'channel', isHeading: true, figures: [], decided: false });
  expect([users?.label, developers?.label]).toEqual(['users (8)', 'developers (6)']);
  const { difference, correctedP } = strata?.channel?.users?.['recall@10'] ?? {};
  expect(users?.figures).toEqual(
    [difference?.mean, difference?.low, difference?.high, correctedP].map((value) =>
      expect.closeTo(value as number, 4),
    ),
  );
  app.choose(state, { right: payload.baseline });
  expect(listBranches(state).every(({ figures }) => figures.length === 0)).toBe(true);
});

test.each([
  ['a gain below the bound', [0.2, 0.13, 0.31, 0.0499], true, 'square', '#12608f', '+.200 [+.130, +.310], p .0499'],
  ['a loss below it', [-0.2, -0.27, -0.09, 0.001], true, 'square', '#ad4513', '−.200 [−.270, −.090], p .001'],
  ['a gain at it', [0.2, 0.13, 0.31, 0.05], false, 'square-open', '#7a756c', '+.200 [+.130, +.310], p .050'],
] as const)('%s is drawn as what was decided', (_, figures, decided, symbol, color, text) => {
  const [difference] = figures;
  expect(buildBranchTrace({ label: 'a < b', isHeading: false, figures, decided }, 5, 0.05)).toMatchObject({
    x: [difference],
    y: [5],
    error_x: { array: [expect.closeTo(0.11, 12)], arrayminus: [expect.closeTo(0.07, 12)], color },
    marker: { symbol, color },
    text: [`a &lt; b<br>${text}`],
  });
});

test('a difference without an interval is a dot without whiskers', () => {
  const trace = buildBranchTrace(
    { label: 'all', isHeading: false, figures: [0.2, null, null, 1], decided: false },
    0,
    0.05,
  );
  expect(trace).toMatchObject({ x: [0.2], error_x: { visible: false }, text: ['all<br>+.200, p 1.000'] });
});
