import { ValidationError } from '../../core/errors/errors.ts';

/** The keys that the schemas of configs know, and the rows that a reference in Markdown has for them. Loads no test runner. */

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
export interface Key {
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
export function listAlternatives(schema: Schema): readonly Schema[] {
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
          if (rows.has(id)) throw new ValidationError(`key is documented twice: ${id}; remove a row`, { id });
          rows.set(id, { type, default: preset, meaning });
        }
    }
  }
  return rows;
}
