import { expect, test } from 'vitest';
import type { SliceAnswer } from '../../rank/retrieval/packed-slices.ts';
import { summariseSlices } from './slice-summary.ts';

const own = {
  policyRef: 'near@1#0',
  issuedAt: 7,
  scope: { anchorTurnId: null, conversationId: null, author: null, channel: null },
};
const answers = [
  { ...own, anchorTurnId: 't3' },
  { ...own, anchorTurnId: null },
  { ...own, refused: 'no-anchor' },
] as unknown as SliceAnswer[];

test('turns a query, queries without an anchor, and the relevant turns outside by level', () => {
  const slices = { answers, starts: Int32Array.from([0, 5, 7, 7]), positions: new Int32Array(7) };
  const losses = [{ a: 'kept', b: 'slice' }, { c: 'fusion' }, { d: 'slice', e: 'slice' }];
  const strata = [
    {
      name: 'kind',
      description: '',
      levels: [
        { name: 'x', queries: [0, 2] },
        { name: 'y', queries: [1] },
      ],
    },
  ];
  expect(summariseSlices(slices, losses, strata)).toEqual({
    ...{ policyRef: 'near@1#0', queries: 3, meanTurns: 7 / 3, unanchored: 1, refused: 1, relevant: 5, inadmissible: 3 },
    strata: { kind: { x: { relevant: 4, inadmissible: 3 }, y: { relevant: 1, inadmissible: 0 } } },
  });
});
