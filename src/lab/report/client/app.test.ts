import { expect, test } from 'vitest';
import { inventResult } from '../page/invented-result.fixture.ts';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { buildHandmadeArm, buildHandmadePayload } from '../page/page.harness.ts';
import { buildPayload } from '../page/payload.ts';
import { choose, createApp, describeDrawnArms, getQueryValue, listDrawnArms, listShownArms, watch } from './app.ts';

const result = inventResult(19, { arms: 5, threads: 7, turnsAThread: 5, top: 3 });
const others = result.arms.filter((arm) => arm.name !== 'bm25');

test('begins with the baseline beside the best other arm', () => {
  const { choice } = createApp(buildPayload(result));
  const best = Math.max(...others.map((arm) => arm.metrics['mrr@10']?.mean ?? 0));
  expect(result.arms[choice.left]?.name).toBe('bm25');
  expect(result.arms[choice.right]?.metrics['mrr@10']?.mean).toBe(best);
});

test('a watcher renders at once and when one of its keys changes, no more often', () => {
  const app = createApp(buildPayload(result));
  const seen: number[] = [];
  watch(app, ['metric', 'query'], () => seen.push(app.choice.query));
  choose(app, { query: 5 });
  choose(app, { query: 5 });
  choose(app, { words: 'patch' });
  choose(app, { metric: 1, query: 2 });
  expect(seen).toEqual([-1, 5, 2]);
});

test('values are those of the chosen metric', () => {
  const app = createApp(buildPayload(result));
  choose(app, { metric: 3 });
  const read = result.queries.map((_, query) => getQueryValue(app, 2, query));
  expect(read).toEqual(result.arms[2]?.perQuery['recall@1']);
});

test('a filter keeps names with every word; a figure without room the best of them and the baseline', () => {
  const sweep = buildPayload(inventSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 }));
  const state = createApp(sweep);
  choose(state, { filter: 'weight=0.5 off' });
  expect(listShownArms(state).map((arm) => sweep.arms[arm]?.name)).toEqual(
    [1, 3, 5, 7, 9].map((window) => `unified | weight=0.5, window=${window}, decay=off`),
  );
  choose(state, { filter: '' });
  const drawn = listDrawnArms(state, 5);
  const best = sweep.arms
    .map(({ intervals }, arm) => ({ arm, mean: intervals[0]?.[0] ?? 0 }))
    .filter(({ arm }) => arm !== sweep.baseline)
    .sort((a, b) => b.mean - a.mean)
    .slice(0, 4)
    .map(({ arm }) => arm);
  expect(drawn).toEqual([sweep.baseline, ...best].sort((a, b) => a - b));
  expect(describeDrawnArms(state, drawn)).toBe('The 5 best of 34 arms by mrr@10; the filter above narrows them.');
  expect(describeDrawnArms(state, listDrawnArms(state, 100))).toBe('');
});

test('a null control is never the best arm, and comes into a figure last', () => {
  const buildScoredArm = (name: string, mean: number, control = false) =>
    buildHandmadeArm(name, { control, intervals: [[mean, mean, mean]] });
  const [base, control, good, poor] = [
    buildScoredArm('base', 0.5),
    buildScoredArm('good | control=x', 0.9, true),
    buildScoredArm('good', 0.8),
    buildScoredArm('poor', 0.1),
  ] as const;
  const state = createApp(buildHandmadePayload([base, poor, control, good]));
  expect(state.choice.right).toBe(3);
  expect(listDrawnArms(state, 3)).toEqual([0, 1, 3]);
  expect(createApp(buildHandmadePayload([base, control])).choice.right).toBe(0);
  expect(createApp(buildHandmadePayload([control, base], { baseline: 1 })).choice.right).toBe(1);
});

test('if the baseline failed, the best arm is compared with the first of the others', () => {
  const buildScoredArm = (name: string, mean: number) => buildHandmadeArm(name, { intervals: [[mean, mean, mean]] });
  const createState = (...means: number[]) =>
    createApp(
      buildHandmadePayload(
        means.map((mean, at) => buildScoredArm(`a${at}`, mean)),
        { baseline: -1 },
      ),
    ).choice;
  expect(createState(0.7, 0.3, 0.5)).toMatchObject({ left: 1, right: 0 });
  expect(createState(0.3, 0.7, 0.5)).toMatchObject({ left: 0, right: 1 });
  expect(createState(0.7)).toMatchObject({ left: 0, right: 0 });
});
