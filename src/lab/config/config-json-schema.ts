import { z } from 'zod';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { baseOptions } from './arm-options.ts';
import { type Key, listKeysWithin, type Schema } from './config-keys.ts';
import { configFile } from './config-schema.ts';
import { describeKeys } from './key-descriptions.ts';
import { ARM_DEPTH } from './run-references.ts';

/** JSON Schema's version that editors know best; the YAML extension of VS Code uses it. */
const TARGET = 'draft-7';

/** A file by its name: a resolved config has its content. */
const FILE: Plain = { type: 'string', minLength: 1 };
/** Where a name may be: key of a mapping -> its key. */
const FILE_KEYS: Readonly<Record<string, string>> = { scoring: 'weights', trajectory: 'weights', slice: 'policy' };

/** What an arm may have in place of `candidates` and `relevance`, which a resolved config has. */
const RUN: Plain = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      properties: { file: { type: 'string' }, k: { type: 'integer', minimum: 1, default: ARM_DEPTH } },
      required: ['file'],
      additionalProperties: false,
    },
    { type: 'null' },
  ],
};

/**
 * A schema for one of several files. Files are merged, so no file needs all keys: none is required, and a mapping may fit several kinds until a key decides.
 *
 * @param owner the key of the config that the schema is of.
 */
function loosen(value: unknown, key = '', owner = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => loosen(item, '', owner));
  if (!isPlain(value)) return value;
  const isMapping = key === 'properties';
  const fileKey = isMapping ? FILE_KEYS[owner] : undefined;
  const entries = Object.entries(value)
    .filter(([name]) => isMapping || name !== 'required')
    .map(([name, child]): [string, unknown] => {
      const inner = loosen(child, name, isMapping ? name : owner);
      if (name === fileKey) return [name, { anyOf: [FILE, inner] }];
      return [!isMapping && name === 'oneOf' ? 'anyOf' : name, inner];
    });
  return Object.fromEntries(entries);
}

/** The JSON Schema of one of several files that are merged. */
export function convertToJsonSchema(schema: z.ZodType): Plain {
  return loosen(z.toJSONSchema(schema, { io: 'input', target: TARGET })) as Plain;
}

/** The properties of a schema of a mapping. */
export function getProperties(schema: unknown): Plain {
  return (schema as { readonly properties: Plain }).properties;
}

/** The keys of an arm in a schema of configs. */
function getArm(schema: Plain): Plain {
  const { items } = getProperties(schema).arms as { readonly items: { readonly anyOf: readonly [Plain] } };
  return items.anyOf[0];
}

/** Every key that a whole config may have. */
export function listConfigKeys(): Key[] {
  const schema: Plain = z.toJSONSchema(configFile, { io: 'input' });
  getProperties(getArm(schema)).run = RUN;
  return listKeysWithin(schema as Schema, '');
}

/**
 * The JSON Schema of a config file, for editors: keys with their meanings, types, choices, defaults and bounds. What depends on several values, such as names
 * of arms, is checked only when the config is read. The schema also fits a file that others extend, and the file of a group.
 */
export function buildConfigJsonSchema(): Plain {
  const { $schema, ...schema } = convertToJsonSchema(configFile);
  const { $schema: _, ...base } = convertToJsonSchema(baseOptions);
  const properties = getProperties(schema);
  const arm = getArm(schema);
  getProperties(arm).run = loosen(RUN);
  getProperties(base).run = loosen(RUN);
  const described = {
    $schema,
    title: 'A rag-plusplus experiment',
    ...schema,
    properties: {
      ...properties,
      base,
      arms: { anyOf: [{ type: 'array', items: { ...arm, required: ['name'] } }, { type: 'object' }] },
    },
  };
  describeKeys(described, ['config.md', 'sweeps.md']);
  return withDatasets(described);
}

/** The values of `datasets` are what `dataset` may be. */
function withDatasets(schema: Plain): Plain {
  const properties = getProperties(schema);
  const { dataset, datasets } = properties;
  return {
    ...schema,
    properties: { ...properties, datasets: { ...(datasets as Plain), additionalProperties: dataset } },
  };
}
