import { z } from 'zod';
import { baseOptions } from './arm-options.ts';
import { isPlain, type Plain } from './config-file.ts';
import { configFile } from './config-schema.ts';

/** JSON Schema's version that editors know best; the YAML extension of VS Code uses it. */
const TARGET = 'draft-7';

const convert = (schema: z.ZodType): Plain => z.toJSONSchema(schema, { io: 'input', target: TARGET });

/** A weight file by its name: it replaces the numbers that a resolved config has under `weights`. */
const WEIGHT_FILE: Plain = { type: 'string', minLength: 1 };

/**
 * A schema for one of several files. Files are merged, so no file needs all keys: none is required, and a mapping may fit several kinds until a key decides.
 */
function loosen(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => loosen(item));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value)
    .filter(([name]) => key === 'properties' || name !== 'required')
    .map(([name, child]): [string, unknown] => [
      key !== 'properties' && name === 'oneOf' ? 'anyOf' : name,
      key === 'properties' && name === 'weights' ? { anyOf: [WEIGHT_FILE, loosen(child)] } : loosen(child, name),
    ]);
  return Object.fromEntries(entries);
}

/** The properties of a schema of a mapping. */
function getProperties(schema: unknown): Plain {
  return (schema as { readonly properties: Plain }).properties;
}

/**
 * The JSON Schema of a config file, for editors: keys, types, choices and bounds. What depends on several values, such as names of arms, is checked only when
 * the config is read. The schema also fits a file that others extend, and the file of a group.
 */
export function buildConfigJsonSchema(): Plain {
  const { $schema, ...schema } = loosen(convert(configFile)) as Plain;
  const { $schema: _, ...base } = loosen(convert(baseOptions)) as Plain;
  const properties = getProperties(schema);
  const arm = (properties.arms as { readonly items: Plain }).items;
  return {
    $schema,
    title: 'A rag-plusplus experiment',
    ...schema,
    properties: { ...properties, base, arms: { type: 'array', items: { ...arm, required: ['name'] } } },
  };
}
