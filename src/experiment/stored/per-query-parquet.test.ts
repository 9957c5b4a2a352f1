import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';
import { perQueryParquet } from './per-query-parquet.ts';

const QUERIES = 1013; // more than the first row group holds
const ids = Array.from({ length: QUERIES }, (_, q) => ({ id: `<${q}@ünï>`, cluster: `thread ${q % 7}` }));
const thirds = ids.map((_, q) => (q % 3) / 3);
const tenths = ids.map((_, q) => 1 - (q % 10) / 10);

/** The parts of a result that the file is made of. */
function resultOf(arms: readonly [string, Readonly<Record<string, readonly number[]>>][]): ExperimentResult {
  const parts: Pick<ExperimentResult, 'metrics'> & { queries: typeof ids; arms: Partial<ArmResult>[] } = {
    metrics: ['mrr@10', 'map'],
    queries: ids,
    arms: arms.map(([name, perQuery]) => ({ name, perQuery })),
  };
  return parts as unknown as ExperimentResult;
}

const arms: [string, Record<string, readonly number[]>][] = [
  ['"bm25", plain', { 'mrr@10': thirds, map: tenths }],
  ['+ décay', { 'mrr@10': tenths, map: thirds }],
];

function fileOf(result: ExperimentResult): ArrayBuffer {
  const bytes = perQueryParquet(result);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

test('another reader finds every row, value by value', async () => {
  const rows = await parquetReadObjects({ file: fileOf(resultOf(arms)) });
  const expected = ids.flatMap(({ id, cluster }, q) => [
    { query: id, cluster, arm: '"bm25", plain', 'mrr@10': thirds[q], map: tenths[q] },
    { query: id, cluster, arm: '+ décay', 'mrr@10': tenths[q], map: thirds[q] },
  ]);
  expect(rows).toEqual(expected);
});

test('columns are typed and required', () => {
  const [, ...columns] = parquetMetadata(fileOf(resultOf(arms))).schema;
  expect(columns.map(({ name, type, repetition_type }) => [name, type, repetition_type])).toEqual([
    ['query', 'BYTE_ARRAY', 'REQUIRED'],
    ['cluster', 'BYTE_ARRAY', 'REQUIRED'],
    ['arm', 'BYTE_ARRAY', 'REQUIRED'],
    ['mrr@10', 'DOUBLE', 'REQUIRED'],
    ['map', 'DOUBLE', 'REQUIRED'],
  ]);
});

test('the same result gives the same bytes', () => {
  expect(perQueryParquet(resultOf(arms))).toEqual(perQueryParquet(resultOf(arms)));
});

test('a value that is missing or not finite is refused', () => {
  const lacking = resultOf([['bm25', { 'mrr@10': thirds, map: tenths.slice(1) }]]);
  expect(() => perQueryParquet(lacking)).toThrow(new NotFiniteError('map', 'arm bm25, query <1012@ünï>', Number.NaN));
});
