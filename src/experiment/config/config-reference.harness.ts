import { expect } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_WEIGHTS } from '../../trajectory/coordinate-names.ts';

/** References of configs in Markdown, a table of keys under each heading, compared with the schemas. */

/** The part of JSON Schema that zod writes for a config. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | false;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
}

/** A key of the config. Its id is a path, with ` name: value` where the schema depends on the value of a key. */
interface Key {
  readonly id: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Row {
  readonly type: string;
  readonly default: string;
  readonly meaning: string;
}

/** The schemas that a value may fit. */
function listAlternatives(schema: Schema): readonly Schema[] {
  const { type } = schema;
  if (Array.isArray(type)) return type.map((one: string) => ({ ...schema, type: one }));
  return (schema.anyOf ?? schema.oneOf)?.flatMap(listAlternatives) ?? [schema];
}

/** A key whose value decides which others there are, such as `index: hnsw`. */
export function isKind(schema: Schema): boolean {
  return typeof schema.const === 'string';
}

/** All keys within a value at `path`. */
export function listKeysWithin(schema: Schema, path: string): Key[] {
  return listAlternatives(schema).flatMap(({ properties = {}, required = [], items }) => {
    if (items) return listKeysWithin(items, `${path}[]`);
    const entries = Object.entries(properties);
    const kinds = entries.filter(([, child]) => isKind(child)).map(([name, child]) => ` ${name}: ${child.const}`);
    const place = `${path}${kinds.join('')}`;
    return entries.flatMap(([name, child]) => {
      const id = place === '' ? name : `${place}.${name}`;
      return [{ id, required: required.includes(name), schema: child }, ...listKeysWithin(child, id)];
    });
  });
}

function splitMarkdownCells(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

export function parseTables(section: string): string[][][] {
  return [...section.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => table.trim().split('\n').map(splitMarkdownCells));
}

export const listCodeSpans = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);

/** The rows of the reference by the id of their key: a heading names the place, and the values that the keys depend on. */
export function indexDocumentedRows(reference: string): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const section of reference.split(/^#+ /m)) {
    const [place = '', ...variants] = listCodeSpans(section.split('\n')[0] as string);
    for (const [header, , ...body] of parseTables(section)) {
      if (header?.[0] !== 'key') continue;
      for (const [key = '', type = '', preset = '', meaning = ''] of body)
        for (const variant of variants.length === 0 ? [''] : variants.map((value) => ` ${value}`)) {
          const id = [`${place}${variant}`, ...listCodeSpans(key)].filter((part) => part !== '').join('.');
          expect(rows.has(id), `${id} stands twice`).toBe(false);
          rows.set(id, { type, default: preset, meaning });
        }
    }
  }
  return rows;
}

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
    return [...[one.type ?? ''].flat().map((type) => WORDS[type] as string), ...bounds.map(String), ...inner];
  });
}

/** The default in the reference; undefined if any text is accepted. */
function readDocumentedDefault({ id, required, schema }: Key): unknown {
  const weight = /trajectory\.weights\.(\w+)$/.exec(id)?.[1];
  if (weight !== undefined) return DEFAULT_WEIGHTS[weight as keyof typeof DEFAULT_WEIGHTS];
  if (schema.default !== undefined) return schema.default;
  // A default that is given to a transformed value is not in the schema of the input: that of propagation.
  return !required && listAlternatives(schema).some(({ type }) => type === 'null') ? null : undefined;
}
