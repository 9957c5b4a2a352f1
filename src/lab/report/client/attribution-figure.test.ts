import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import { buildFateTrace } from './attribution-figure.ts';

const FATES = ['kept', 'candidates', 'fusion'];
const arms = [
  buildHandmadeArm('a', { fates: [3, 1, 4] }),
  buildHandmadeArm('b', { fates: [5, 0, 0] }),
  buildHandmadeArm('<c>', { fates: [2, 11, 7] }),
];
const state = app.createApp(buildHandmadePayload(arms, { fates: FATES }));

beforeAll(() => openPage(1400));

test('a bar is a share of the relevant turns of its own arm', () => {
  expect(FATES.map((_, fate) => buildFateTrace(state, [0, 2], fate))).toMatchObject([
    { x: [3 / 8, 2 / 20], y: [0, 1], text: ['a<br>kept: 3 of 8', '&lt;c&gt;<br>kept: 2 of 20'] },
    { x: [1 / 8, 11 / 20], text: ['a<br>candidates: 1 of 8', '&lt;c&gt;<br>candidates: 11 of 20'] },
    { x: [4 / 8, 7 / 20], text: ['a<br>relevance: 4 of 8', '&lt;c&gt;<br>relevance: 7 of 20'] },
  ]);
});

test('what was kept is green, each loss has its own colour; fusion is called relevance', () => {
  expect(FATES.map((_, fate) => buildFateTrace(state, [0], fate))).toMatchObject([
    { name: 'kept', marker: { color: '#2f6b3c' } },
    { name: 'lost: candidates', marker: { color: '#c2571a' } },
    { name: 'lost: relevance', marker: { color: '#7d5ba6' } },
  ]);
});
