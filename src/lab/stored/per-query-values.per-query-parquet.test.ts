import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';
import { encodePerQueryParquet } from './per-query-values.ts';

const QUERIES = 1013; // more than the first row group holds
const ids = Array.from({ length: QUERIES }, (_, q) => ({ id: `<${q}@ünï>`, cluster: `thread ${q % 7}` }));
const thirds = ids.map((_, q) => (q % 3) / 3);
const tenths = ids.map((_, q) => 1 - (q % 10) / 10);

/** The parts of a result that the file is made of. */
function buildArmsResult(arms: readonly [string, Readonly<Record<string, readonly number[]>>][]): ExperimentResult {
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

function encodePerQuery(result: ExperimentResult): ArrayBuffer {
  const bytes = encodePerQueryParquet(result);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

test('another reader finds every row, value by value', async () => {
  const rows = await parquetReadObjects({ file: encodePerQuery(buildArmsResult(arms)) });
  const expected = ids.flatMap(({ id, cluster }, q) => [
    { query: id, cluster, arm: '"bm25", plain', 'mrr@10': thirds[q], map: tenths[q] },
    { query: id, cluster, arm: '+ décay', 'mrr@10': tenths[q], map: thirds[q] },
  ]);
  expect(rows).toEqual(expected);
});

test('columns are typed and required', () => {
  const [, ...columns] = parquetMetadata(encodePerQuery(buildArmsResult(arms))).schema;
  expect(columns.map(({ name, type, repetition_type }) => [name, type, repetition_type])).toEqual([
    ['query', 'BYTE_ARRAY', 'REQUIRED'],
    ['cluster', 'BYTE_ARRAY', 'REQUIRED'],
    ['arm', 'BYTE_ARRAY', 'REQUIRED'],
    ['mrr@10', 'DOUBLE', 'REQUIRED'],
    ['map', 'DOUBLE', 'REQUIRED'],
  ]);
});

test('the same result gives the same bytes', () => {
  expect(encodePerQueryParquet(buildArmsResult(arms))).toEqual(encodePerQueryParquet(buildArmsResult(arms)));
});

test('a value that is missing or not finite is refused', () => {
  const lacking = buildArmsResult([['bm25', { 'mrr@10': thirds, map: tenths.slice(1) }]]);
  expect(() => encodePerQueryParquet(lacking)).toThrow(
    new NotFiniteError('map', 'arm bm25, query <1012@ünï>', Number.NaN),
  );
});
