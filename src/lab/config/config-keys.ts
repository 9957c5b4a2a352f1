import { ValidationError } from '../../core/errors/errors.ts';

/** The keys that the schemas of configs know, and the rows that a reference in Markdown has for them. Loads no test runner. */

/** The part of JSON Schema that zod writes for a config. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | false;
  readonly additionalProperties?: Schema | boolean;
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

/** Mappings whose keys are names that a config gives, to values that all have the same keys. */
const NAMED = /(?:^|\.)(?:arms|search\+?)$/;

/** Steps whose options are a mapping of members: `arms{}.fuse.rrf` has a heading of its own, and no row. */
const MEMBERS = /^arms\{\}\.(?:score|fuse|blend|rerank|select)\.[^.]+$/;

/** True for a key that has a heading in a reference instead of a row: a kind, or the name of a member of a step. */
export const isHeading = ({ id, schema }: Key) => isKind(schema) || MEMBERS.test(id);

/** All keys within a value at `path`. `[]` stands for the items of a list, `{}` for the values of a mapping by name. */
export function listKeysWithin(schema: Schema, path: string): Key[] {
  return listAlternatives(schema).flatMap(({ properties = {}, required = [], items, additionalProperties }) => {
    if (items) return listKeysWithin(items, `${path}[]`);
    const isNamed = typeof additionalProperties === 'object' && NAMED.test(path);
    const named = isNamed ? listKeysWithin(additionalProperties, `${path}{}`) : [];
    const entries = Object.entries(properties);
    const kinds = entries.filter(([, child]) => isKind(child)).map(([name, child]) => ` ${name}: ${child.const}`);
    const variant = `${path}${kinds.join('')}`;
    const own = entries.flatMap(([name, child]) => {
      const id = variant === '' ? name : `${variant}.${name}`;
      return [{ id, required: required.includes(name), schema: child }, ...listKeysWithin(child, id)];
    });
    return [...own, ...named];
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

/** A variant in a heading: the value of a key, as in `index: hnsw`, or the name of a member. */
export const joinVariant = (path: string, variant: string) =>
  variant === '' ? path : `${path}${variant.includes(': ') ? ' ' : '.'}${variant}`;

/**
 * The rows of the reference by the id of their key. A heading names the path, and the values or members that the keys
 * depend on.
 */
export function indexDocumentedRows(reference: string): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const section of reference.split(/^#+ /m)) {
    const [path = '', ...variants] = listCodeSpans(section.split('\n')[0] as string);
    for (const [header, , ...body] of parseTables(section)) {
      if (header?.[0] !== 'key') continue;
      for (const [key = '', type = '', preset = '', meaning = ''] of body)
        for (const variant of variants.length === 0 ? [''] : variants) {
          const id = [joinVariant(path, variant), ...listCodeSpans(key)].filter((part) => part !== '').join('.');
          if (rows.has(id)) throw new ValidationError(`key is documented twice: ${id}; remove a row`, { id });
          rows.set(id, { type, default: preset, meaning });
        }
    }
  }
  return rows;
}
