import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { parse } from '../../core/validation/validation.ts';
import { buildHandmadeMatrix } from './pagerank.oracle.ts';
import { createPageRankSolver, PAGERANK_SOLVERS, pageRankOptions } from './pagerank-registry.ts';

const matrix = buildHandmadeMatrix({
  directed: true,
  nodes: ['a', 'b', 'c'],
  edges: [
    ['a', 'b', 2],
    ['b', 'c', 1],
  ],
});

beforeAll(() => useBackend('cpu'));

// From a: r_a = (1 - d)(1 + r_c), r_b = d r_a, r_c = d r_b, with d = 1/4 and the mass of c, which is dangling, back at a.
test.each(PAGERANK_SOLVERS.names)('%s is made from its options', async (solver) => {
  const options = parse(pageRankOptions, { solver, damping: 0.25 }, 'options');
  expect(options).toMatchObject({ damping: 0.25, maxIterations: 100, tolerance: solver === 'host' ? 1e-10 : 1e-6 });
  const made = await createPageRankSolver(matrix, options);
  expect(made.name).toBe(solver);
  const { scores } = await made.solve([new Map([['a', 3]])]);
  made.dispose();
  const expected = [16 / 21, 4 / 21, 1 / 21];
  for (const [node, score] of scores.entries()) expect(Math.abs(score - expected[node]!)).toBeLessThan(2e-6);
});

test('an unknown solver and an unknown option are refused with what is known', () => {
  expect(() => parse(pageRankOptions, { solver: 'hots' }, 'options')).toThrow(
    /solver: expected .*got "hots"; did you mean host\?/,
  );
  expect(() => parse(pageRankOptions, { solver: 'push', dampling: 1 }, 'options')).toThrow('did you mean damping?');
});
