import { z } from 'zod';
import { DATASETS, type DatasetOptions } from './registry.ts';

/** The part of JSON Schema that zod writes for options. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** An option of a dataset, for display. */
export interface DatasetOption {
  readonly name: string;
  /** For example `text`, or `error or skip`. */
  readonly takes: string;
  readonly required: boolean;
  /** Absent if there is no default. */
  readonly default?: unknown;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'mapping',
};

function describeSchemaType({ type = 'anything', const: only, enum: choices, anyOf, items }: Schema): string {
  if (only !== undefined) return String(only);
  if (choices !== undefined) return choices.join(' or ');
  if (anyOf !== undefined) return anyOf.map(describeSchemaType).join(' or ');
  if (items !== undefined) return `list of ${describeSchemaType(items)}`;
  return WORDS[type] ?? type;
}

/** The keys of `dataset` in a config besides the name, in the order of the schema. */
export function listDatasetOptions(dataset: DatasetOptions['name']): DatasetOption[] {
  const { options } = DATASETS.get(dataset);
  const { properties = {}, required = [] } = z.toJSONSchema(options, { io: 'input' }) as Schema;
  return Object.entries(properties)
    .filter(([name]) => name !== 'name')
    .map(([name, schema]) => ({
      name,
      takes: describeSchemaType(schema),
      required: required.includes(name),
      ...(schema.default === undefined ? {} : { default: schema.default }),
    }));
}
