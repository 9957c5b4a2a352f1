import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRun } from '../../eval/trec/run-tables.ts';
import { readWeights } from '../../rank/learning/weight-file.ts';
import { toDataFrame } from './data-frame.ts';

/** Columns as they are given; notebook 05 uses the data frames of danfojs. */
class Columns {
  readonly columns: Record<string, unknown[]>;

  constructor(columns: Record<string, unknown[]>) {
    this.columns = columns;
  }
}

test('rows become a column for each name, null where a row has no value', () => {
  const { columns } = toDataFrame(Columns, [
    { arm: 'a', mrr: 0.5 },
    { arm: 'b', note: 'x' },
  ]);
  expect(columns).toEqual({ arm: ['a', 'b'], mrr: [0.5, null], note: [null, 'x'] });
});

test('a run becomes a row for each ranked document', () => {
  const { columns } = toDataFrame(Columns, createRun({ q1: { d1: 0.5, d2: 0.75 }, q2: { d3: 1 } }));
  expect(columns).toEqual({
    query_id: ['q1', 'q1', 'q2'],
    doc_id: ['d2', 'd1', 'd3'],
    score: [0.75, 0.5, 1],
    rank: [1, 2, 1],
  });
});

test('weights become a row for each number', () => {
  const path = fileURLToPath(
    new URL('../../../results/learning-mail-trajectory/weights-trajectory.safetensors', import.meta.url),
  );
  const { columns } = toDataFrame(Columns, readWeights(path));
  expect(Object.keys(columns)).toEqual(['parameter', 'label', 'handTuned', 'value']);
  expect(columns.parameter).toContain('alpha');
  expect(columns.value?.every((value) => Number.isFinite(value))).toBe(true);
});

test('no row is an error', () => {
  expect(() => toDataFrame(Columns, [])).toThrow(ValidationError);
  expect(() => toDataFrame(Columns, [])).toThrow('data frame has no rows: 0; pass a result with at least 1');
});
