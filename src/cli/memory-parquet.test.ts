import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../memory/store/open-store.ts';
import type { MemoryRecord } from '../model/turns/turn.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-parquet-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);

type Schema = NonNullable<Parameters<typeof parquetWriteBuffer>[0]['schema']>;
type Element = Schema[number];

/** A column, its values and its place in the schema, as other programs write it. */
interface Column {
  readonly schema: readonly Element[];
  readonly data: ColumnSource['data'];
}

const optional = { repetition_type: 'OPTIONAL' } as const;
const UTF8 = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const leaf = (name: string, element: Partial<Element>): Element => ({ name, ...optional, ...element });
const list = (name: string, element: Partial<Element>): Element[] => [
  { name, ...optional, num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  leaf('element', element),
];
const text = (name: string, data: readonly unknown[]): Column => ({ schema: [leaf(name, UTF8)], data: [...data] });
const column = (name: string, element: Partial<Element>, data: readonly unknown[]): Column => ({
  schema: [leaf(name, element)],
  data: [...data],
});

/** The columns that a record needs, with times as timestamps and vectors of doubles. */
const NEEDED: readonly Column[] = [
  text('id', ['a', 'b']),
  text('context', ['one', 'two']),
  column('createdAt', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, [new Date(1000), new Date(2000)]),
  {
    schema: list('embedding', { type: 'DOUBLE' }),
    data: [
      [1, 0],
      [0.6, 0.8],
    ],
  },
];

function write(name: string, columns: readonly Column[]): string {
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.flatMap((entry) => entry.schema)];
  const columnData = columns.map(({ schema: [first], data }) => ({ name: (first as Element).name, data }));
  writeFileSync(at(name), new Uint8Array(parquetWriteBuffer({ schema, columnData })));
  return at(name);
}

async function importFile(name: string, columns: readonly Column[]) {
  const folder = at(`${name}.memory`);
  const outcome = await runRagpp('memory', 'import', folder, write(name, columns));
  if (outcome.code !== 0) return { ...outcome, records: [] as MemoryRecord[], folder };
  const store = await openStore(folder);
  await store.close();
  return { ...outcome, records: [...store.records()], folder };
}

test('columns of other programs become attributes, and nulls are missing values', async () => {
  const { records, stderr } = await importFile('foreign.parquet', [
    ...NEEDED,
    column('outcome', { type: 'INT64' }, [1n, null]),
    column('size', { type: 'INT64' }, [7n, null]),
    column('ratio', { type: 'DOUBLE' }, [null, 0.25]),
    column('open', { type: 'BOOLEAN' }, [true, false]),
    column('seen', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, [new Date(86_400_000), null]),
    column('note', { type: 'BYTE_ARRAY' }, [Buffer.from('é'), null]),
    column('empty', { type: 'INT32' }, [null, null]),
    { schema: list('tags', UTF8), data: [['x', 'y'], null] },
    {
      schema: [
        { name: 'metadata', ...optional, num_children: 2 },
        leaf('place', UTF8),
        leaf('count', { type: 'INT64' }),
      ],
      data: [{ place: null, count: 3n }, null],
    },
    {
      schema: [
        { name: 'stats', ...optional, num_children: 5 },
        leaf('count', { type: 'INT64' }),
        ...['mean', 'm2', 'min', 'max'].map((name) => leaf(name, { type: 'DOUBLE' })),
      ],
      data: [{ count: 1n, mean: 0.5, m2: 0, min: 0.5, max: 0.5 }, null],
    },
  ]);
  expect(stderr).not.toContain('ragpp');
  expect(records).toMatchObject([
    { id: 'a', createdAt: 1000, outcome: 1, stats: { count: 1, mean: 0.5 }, embedding: Float32Array.of(1, 0) },
    { id: 'b', createdAt: 2000, outcome: null, stats: { count: 0 }, embedding: Float32Array.of(0.6, 0.8) },
  ]);
  expect(records.map(({ metadata }) => metadata)).toEqual([
    { size: 7, open: true, seen: '1970-01-02T00:00:00.000Z', note: 'é', tags: ['x', 'y'], count: 3 },
    { ratio: 0.25, open: false },
  ]);
});

test('a row with a text is a turn, whose other columns are its attributes', async () => {
  const [id, , createdAt, embedding] = NEEDED as [Column, Column, Column, Column];
  const { records, stderr } = await importFile('turns.parquet', [
    id,
    { schema: [leaf('timestamp', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' })], data: createdAt.data },
    embedding,
    text('text', ['hello', 'again']),
    text('conversationId', ['k', 'k']),
    text('parentId', [null, 'a']),
    column('outcome', { type: 'DOUBLE' }, [null, 1]),
  ]);
  expect(stderr).not.toContain('ragpp');
  expect(records).toMatchObject([
    { id: 'a', context: 'hello', conversationId: 'k', parentId: null, outcome: null, createdAt: 1000 },
    { id: 'b', context: 'again', parentId: 'a', outcome: 1 },
  ]);
});

test('whole numbers are read as embeddings', async () => {
  const integers = {
    schema: list('embedding', { type: 'INT64' }),
    data: [
      [1n, 0n],
      [0n, -2n],
    ],
  };
  const { records } = await importFile('integers.parquet', [...NEEDED.slice(0, 3), integers]);
  expect(records[1]?.embedding).toEqual(Float32Array.of(0, -2));
});

const INFO = [{ name: 'info', ...optional, num_children: 1 }, leaf('x', { type: 'INT64' })];
test.each([
  ['large', column('size', { type: 'INT64' }, [2n ** 53n + 1n, 1n]), 'metadata.size: expected a text, a finite'],
  ['nested', { schema: INFO, data: [{ x: 1n }, null] }, '{"x":1}'],
  ['codes', { schema: list('codes', { type: 'INT64' }), data: [[1n], null] }, 'metadata.codes: expected a text'],
  ['nan', column('score', { type: 'DOUBLE' }, [Number.NaN, 1]), 'metadata.score: expected a text'],
  ['bytes', column('blob', { type: 'BYTE_ARRAY' }, [Uint8Array.of(255, 254), null]), 'metadata.blob: expected a text'],
  ['json', text('stats', ['{"count"', null]), 'stats: expected JSON, got a text of length 8'],
  ['listed', text('metadata', ['[1]', null]), 'metadata: expected record, got [1]'],
])('a value that no attribute can have is refused by its row: %s', async (name, extra, message) => {
  const { code, stderr, folder } = await importFile(`${name}.parquet`, [...NEEDED, extra]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${at(name)}.parquet:1: malformed row: `);
  expect(stderr).toContain(message);
  expect(existsSync(folder)).toBe(false);
});

test('a file that is no Parquet, or compressed in another way, is refused with what to write', async () => {
  writeFileSync(at('junk.parquet'), 'PAR0');
  const { code, stderr } = await runRagpp('memory', 'import', at('none'), at('junk.parquet'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/junk\.parquet; write it as Parquet again\n$/);
});
