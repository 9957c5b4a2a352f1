import { openParquet } from '../../../core/decoding/parquet.ts';
import { ValidationError } from '../../../core/errors/errors.ts';
import { describeUnread, parseJson, turnRow } from '../../../data/jsonl/jsonl-rows.ts';
import { memoryRecordFields } from '../../../model/turns/memory-record-schema.ts';
import { RowFault } from './record-rows.ts';

/** What a row has beside its attributes: a row with a text is a turn. */
const RECORD_COLUMNS: ReadonlySet<string> = new Set(memoryRecordFields);
const TURN_COLUMNS: ReadonlySet<string> = new Set([...Object.keys(turnRow.shape), 'embedding']);
/** Columns that may be JSON texts. */
const JSON_COLUMNS = ['metadata', 'attributes', 'stats', 'trajectory'] as const;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Uint8Array): unknown {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes; // refused by the schema
  }
}

/** A value as JSON has it: whole numbers as numbers where they fit, bytes as text. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Uint8Array) return decodeText(value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPlain(item)]));
}

const isTime = (value: unknown): value is Date => value instanceof Date && Number.isFinite(value.getTime());

const isMissing = (value: unknown) => value === null || value === undefined;

/** Attributes: a null is a missing value, and a time a text in ISO 8601. */
function toAttributes(values: object): Record<string, unknown> {
  const known = Object.entries(values).filter(([, value]) => !isMissing(value));
  return Object.fromEntries(known.map(([name, value]) => [name, isTime(value) ? value.toISOString() : value]));
}

/** The fields of a row: JSON texts are read, and columns of other names become attributes. Nulls are missing values. */
function readColumns(columns: Readonly<Record<string, unknown>>): unknown {
  const isTurn = !isMissing(columns.text);
  const [fields, key] = isTurn ? ([TURN_COLUMNS, 'attributes'] as const) : ([RECORD_COLUMNS, 'metadata'] as const);
  const row: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, written] of Object.entries(columns)) {
    if (isMissing(written) && name !== 'parentId') continue;
    const isJson = (JSON_COLUMNS as readonly string[]).includes(name) && fields.has(name);
    const value = toPlain(written);
    const read = isJson && typeof value === 'string' ? parseJson(value) : value;
    if (read === undefined) return new RowFault(`${name}: expected JSON, got ${describeUnread(String(value))}`);
    (fields.has(name) ? row : others)[name] = read;
  }
  const own = row[key] ?? {};
  if (typeof own !== 'object' || Array.isArray(own)) return row; // refused by the schema
  return { ...row, [key]: toAttributes({ ...others, ...own }) };
}

/** The rows of a Parquet file. */
export async function* readParquetRows(
  path: string,
): AsyncGenerator<{ readonly where: string; readonly row: unknown }> {
  const file = await openParquet(path, { utf8: false });
  let row = 0;
  try {
    if (file.columns.includes('__proto__'))
      // an object of JavaScript would drop its values
      throw new ValidationError(`column is named __proto__: ${path}; rename the column`, { path });
    for await (const batch of file.readBatches())
      for (const columns of batch) yield { where: `${path}:${++row}`, row: readColumns(columns) };
  } finally {
    await file.close();
  }
}
