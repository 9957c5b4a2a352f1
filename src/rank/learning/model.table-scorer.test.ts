import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { copySignalColumn, selectQueries } from './feature-table.ts';
import { expectClose } from './gradient.oracle.ts';
import { createLinearModel } from './linear-model.ts';
import { scoreTable, TableScorer } from './model.ts';

const table = drawHandmadeTable({ queries: 7, candidates: 5, clusters: 2, signals: ['a', 'b'], seed: 13 });
const plain = { means: Float64Array.of(0), deviations: Float64Array.of(1) };
const model = createLinearModel({ signals: ['b'], nonNegative: [], initial: {} }, plain);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('scores one table by many values', async () => {
    const scorer = new TableScorer(model, table);
    const column = copySignalColumn(table, 'b');
    for (const weight of [2, -3])
      expectClose(
        await scorer.scoreWith(Float64Array.of(weight)),
        column.map((value) => weight * value),
      );
    await expect(scorer.scoreWith(Float64Array.of(1, 2))).rejects.toThrow('parameter values: expected 1, got 2');
    scorer.dispose();
  });

  test('a table without queries has no scores', async () => {
    expect(await scoreTable(model, Float64Array.of(1), selectQueries(table, []))).toEqual(new Float32Array());
  });
});
