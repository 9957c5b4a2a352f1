import { expect, test } from 'vitest';
import { payloadOf } from '../payload.ts';
import { sampleSweep } from '../sample-sweep.ts';
import * as app from './app.ts';
import { branchesOf } from './strata-figure.ts';

const result = sampleSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 });
const payload = payloadOf(result);
const named = (words: string) => payload.arms.findIndex(({ name }) => name === `unified | ${words}`);

test('the forest plot has all queries, then every level with its count and difference', () => {
  const state = app.createApp(payload);
  const arm = named('weight=0.5, window=3, decay=off');
  app.choose(state, { right: arm, metric: 1 });
  const strata = result.arms.find(({ name }) => name === payload.arms[arm]?.name)?.strata;
  const [all, heading, users, developers] = branchesOf(state);
  expect(all).toMatchObject({ label: 'all queries (14)', figures: payload.arms[arm]?.differences[1] });
  expect(heading).toEqual({ label: 'channel', isHeading: true, figures: [] });
  expect([users?.label, developers?.label]).toEqual(['users (8)', 'developers (6)']);
  const { difference, correctedP } = strata?.channel?.users?.['recall@10'] ?? {};
  expect(users?.figures).toEqual(
    [difference?.mean, difference?.low, difference?.high, correctedP].map((value) =>
      expect.closeTo(value as number, 4),
    ),
  );
  app.choose(state, { right: payload.baseline });
  expect(branchesOf(state).every(({ figures }) => figures.length === 0)).toBe(true);
});
