import { expect, test } from 'vitest';
import { countDoorModules, formatDoorCosts } from './entry-points.ts';

test('the table has a row for each entry point, with modules and whether tensors are loaded', () => {
  const costs = countDoorModules();
  expect(costs).toHaveLength(10);
  expect(costs.find(({ door }) => door === 'rag-plusplus/eval')?.packages).toContain('zod');
  const table = formatDoorCosts([{ door: 'rag-plusplus/eval', modules: 59, packages: ['zod'] }]);
  expect(table.split('\n').at(-1)?.split(/ {2,}/)).toEqual(['rag-plusplus/eval', '59', 'no', '1']);
});
