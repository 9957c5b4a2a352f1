import { expect, test } from 'vitest';
import { attentionOptions } from '../../../rank/signals/signal-options.ts';
import { buildHandmadeArm, buildHandmadePayload } from '../page/page.harness.ts';
import { findAttentionPart } from '../tables/format.ts';
import * as app from './app.ts';
import { listAttendingArms, listAttentionCells, listCandidates } from './attention-map.ts';

/** Rankings of the first query: turn, score, relevance and attention in turn. */
const attends = (mechanism: string, ...flat: number[]) => ({
  components: ['relevance', mechanism],
  rankings: [flat, [], []],
});
const state = app.createApp(
  buildHandmadePayload([
    buildHandmadeArm('base', { components: ['relevance'], rankings: [[7, 1, 1, 5, 0.5, 0.5], [], []] }),
    buildHandmadeArm('rcp', attends('rcp', 5, 1, 0.3, 0.02, 9, 0.5, 0.2, 0.08)),
    buildHandmadeArm('tpo', attends('tpo', 3, 1, 0.3, 0.5, 7, 0.5, 0.2, 0.1)),
    buildHandmadeArm('far', { components: ['unified'] }),
  ]),
);

test.each(attentionOptions.shape.mechanism.options)('a component %s is attention', (mechanism) => {
  expect(findAttentionPart(['relevance', mechanism])).toBe(1);
});

test('columns are the shown arms with attention and rankings, rows the candidates of A and then of B', () => {
  app.choose(state, { left: 0, right: 1, query: 0 });
  expect(listAttendingArms(state)).toEqual([1, 2]);
  expect(listCandidates(state)).toEqual([7, 5, 9]);
  app.choose(state, { filter: 'tpo' });
  expect(listAttendingArms(state)).toEqual([2]);
  app.choose(state, { filter: '' });
});

test('a cell is the share of the greatest attention of its arm; a turn that the arm does not rank has none', () => {
  expect(listAttentionCells(state, [1, 2], [7, 5, 9])).toEqual([
    { column: 0, row: 1, attention: 0.02, share: 0.25 },
    { column: 0, row: 2, attention: 0.08, share: 1 },
    { column: 1, row: 0, attention: 0.1, share: 0.2 },
  ]);
});
