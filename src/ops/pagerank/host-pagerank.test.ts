import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { HostPageRank } from './host-pagerank.ts';
import { buildHandmadeMatrix } from './pagerank.oracle.ts';
import { describePageRankSolver } from './pagerank-contract.harness.ts';

describePageRankSolver('host', (matrix, settings) => new HostPageRank(matrix, settings), 2e-10);

test('a query has the same result to the bit alone, in a pair and in a block', async () => {
  const stream = createRandom(3, 'host-pagerank.test');
  const nodes = Array.from({ length: 101 }, (_, i) => `n${i}`);
  const edges = Array.from({ length: 307 }, () => {
    return [`n${stream.integer(101)}`, `n${stream.integer(97)}`, stream.uniform()] as const;
  });
  const solver = new HostPageRank(buildHandmadeMatrix({ directed: true, nodes, edges }));
  const queries = Array.from(
    { length: 19 },
    (_, query) =>
      new Map([
        [`n${query}`, 1],
        [`n${5 * query}`, 2],
      ]),
  );
  const together = await solver.solve(queries);
  for (const [query, seeds] of queries.entries()) {
    const alone = await solver.solve([seeds]);
    expect(alone.scores).toEqual(together.scores.slice(query * 101, (query + 1) * 101));
    expect(alone.iterations[0]).toBe(together.iterations[query]);
    expect(alone.errorBounds[0]).toBe(together.errorBounds[query]);
  }
  expect(new Set(together.iterations).size).toBeGreaterThan(1);
});
