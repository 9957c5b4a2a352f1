import { expect, test } from 'vitest';
import { describeSmallStratum, findSmallStrata } from './warning.ts';

test('a stratum below 50 queries is small, and one of 50 is not', () => {
  const strata = [
    ...new Array<string>(50).fill('exact'),
    ...new Array<string>(49).fill('paraphrase'),
    ...new Array<string>(39).fill('multi-hop'),
    ...new Array<null>(7).fill(null),
  ];
  const small = findSmallStrata(strata);
  expect(small).toEqual([
    { stratum: 'multi-hop', queries: 39 },
    { stratum: 'paraphrase', queries: 49 },
  ]);
  expect(small.map(describeSmallStratum)[0]).toBe(
    'stratum multi-hop has 39 queries, fewer than 50; add 11 queries, or report it as too small to rank systems',
  );
});
