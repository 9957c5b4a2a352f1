import { createRandom } from '../../core/numbers/random.ts';
import type { PlainQuery } from './listwise-newton.oracle.ts';
import type { ListwiseRows } from './listwise-newton.ts';

/** Rows of 5 queries with 7, 3, 11, 2 and 13 candidates, and 4 signals. */
export function drawListwiseRows(bounded = [false, false, false, false]): {
  rows: ListwiseRows;
  queries: PlainQuery[];
} {
  const stream = createRandom(11, 'listwise rows');
  const queries = [7, 3, 11, 2, 13].map((count): PlainQuery => {
    const pulls = Array.from({ length: count }, () => Math.exp(stream.drawNormal()));
    const sum = pulls.reduce((total, pull) => total + pull, 0);
    return {
      signals: pulls.map(() => bounded.map(() => Math.fround(stream.drawNormal()))),
      targets: pulls.map((pull) => pull / sum),
      offsets: pulls.map((_, r) => (r % 3 === 2 ? Math.log(4.5) : 0)),
    };
  });
  const all = queries.flatMap(({ signals }) => signals);
  const starts = Int32Array.from([0, 7, 10, 21, 23, 36]);
  const rows = {
    starts,
    columns: bounded.map((_, f) => Float32Array.from(all, (row) => row[f] as number)),
    targets: Float64Array.from(queries.flatMap(({ targets }) => targets)),
    offsets: Float64Array.from(queries.flatMap(({ offsets }) => offsets)),
    bounded,
  };
  return { rows, queries };
}
