import { expect, test } from 'vitest';
import type { ArmResult } from '../../measure/result.ts';
import { buildHandmadeResult } from './result.fixture.ts';
import { describeSlices, renderSliceStrata, renderSliceTable } from './side-tables.ts';

const [free, other] = buildHandmadeResult().arms as [ArmResult, ArmResult];
const strata = { kind: { x: { relevant: 4, inadmissible: 1 }, y: { relevant: 0, inadmissible: 0 } } };
const counts = { queries: 7, meanTurns: 11.25, unanchored: 2, refused: 3, relevant: 4, inadmissible: 1 };
const arms = [free, { ...other, name: 'near', slices: { policyRef: 'near@1#0', ...counts, strata } }];
const readCells = (markup: unknown) => [...String(markup).matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text]) => text);

test('an arm with slices has a row, and one for each level; the share of no relevant turn is a dash', () => {
  expect(readCells(renderSliceTable(arms))).toEqual(['near', 'near@1#0', '11.3', '.250', '2', '3']);
  expect(readCells(renderSliceStrata(arms))).toEqual(['near', 'kind', 'x', '4', '.250', 'near', 'kind', 'y', '0', '—']);
  expect(describeSlices(arms)).toEqual([
    'slices of near: 11.3 turns a query; 1 of 4 relevant turns inadmissible; of 7 queries 2 unanchored, 3 refused',
  ]);
});
