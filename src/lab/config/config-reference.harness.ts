import { expect } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_WEIGHTS } from '../../ops/trajectory/coordinate-names.ts';
import { type Key, listAlternatives, listCodeSpans, type Row, type Schema } from './config-faults.ts';

export {
  indexDocumentedRows,
  isHeading,
  isKind,
  listCodeSpans,
  listKeysWithin,
  parseTables,
  type Row,
  type Schema,
} from './config-faults.ts';

/** References of configs in Markdown, a table of keys under each heading, compared with the schemas. */

/** @param unwritten the text for a key without a default */
export function expectDocumented(rows: ReadonlyMap<string, Row>, key: Key, unwritten: RegExp): void {
  const row = rows.get(key.id) as Row;
  for (const word of listTypeWords(key.schema)) expect(row.type).toContain(word);
  expect(row.meaning).not.toBe('');
  const value = readDocumentedDefault(key);
  if (key.required) expect(row.default).toBe('required');
  else if (value === undefined) expect(row.default).toMatch(unwritten);
  else if (row.default === 'as below') expect(value).toEqual({});
  else expect(parse(listCodeSpans(row.default)[0] ?? '(nothing in code)')).toEqual(value);
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'mapping',
  null: 'null',
};

/** The words that the type of a key must mention: its types, its choices, its bounds. */
function listTypeWords(schema: Schema): string[] {
  return listAlternatives(schema).flatMap((one) => {
    if (one.enum !== undefined) return one.enum.map((choice) => `\`${choice}\``);
    if (one.const !== undefined) return [`\`${one.const}\``];
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems } = one;
    const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems].filter(
      (bound) => bound !== undefined && Math.abs(bound) !== Number.MAX_SAFE_INTEGER,
    );
    const inner = one.items && !one.items.properties && !one.items.oneOf ? listTypeWords(one.items) : [];
    return [...[one.type ?? []].flat().map((type) => WORDS[type as string] as string), ...bounds.map(String), ...inner];
  });
}

/** The default in the reference; undefined if any text is accepted. */
function readDocumentedDefault({ id, required, schema }: Key): unknown {
  const weight = /\.trajectory\.weights\.(\w+)$/.exec(id)?.[1];
  if (weight !== undefined) return DEFAULT_WEIGHTS[weight as keyof typeof DEFAULT_WEIGHTS];
  if (schema.default !== undefined) return schema.default;
  // A default that is given to a transformed value is not in the schema of the input: that of propagation.
  return !required && listAlternatives(schema).some(({ type }) => type === 'null') ? null : undefined;
}
