import { join } from 'node:path';
import { z } from 'zod';
import { PROJECT_ROOT } from '../../core/code/package-root.ts';
import { readText } from '../../core/files/files.ts';
import { createWrittenOptions, STEPS } from '../../rank/retrieval/steps/keys.ts';
import { unchangedReason } from '../../rank/retrieval/written-steps.ts';
import { controlOptions } from '../../rank/signals/worlds/world-parts.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import {
  indexDocumentedRows,
  isKind,
  type Key,
  listCodeSpans,
  listKeysWithin,
  parseTables,
  type Schema,
} from './config-faults.ts';
import { configFile, encodingOptions } from './config-schema.ts';
import { ARM_DEPTH } from './file-references.ts';

/** The meanings of keys, from the references in docs: what an editor shows is what the pages say. */
interface Meanings {
  readonly byKey: ReadonlyMap<string, string>;
  /** Descriptions of members, such as datasets, by kind and name. */
  readonly byMember: ReadonlyMap<string, string>;
}

/** The text of a cell without links and escapes, and without the link to a section at its end. */
function toPlainText(cell: string): string {
  return cell
    .replace(/: \[[^\]]*\]\([^)]*\)$/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(.)/g, '$1');
}

function readMeanings(pages: readonly string[]): Meanings {
  const texts = pages.map((page) => readText(join(PROJECT_ROOT, 'docs', page)));
  const rows = texts.flatMap((text) => [...indexDocumentedRows(text)]);
  const members = texts
    .flatMap(parseTables)
    .flatMap(([header, , ...body]) =>
      body.map(([name = '', meaning = '']): [string, string] => [
        `${header?.[0]} ${listCodeSpans(name)[0]}`,
        toPlainText(meaning),
      ]),
    );
  return {
    byKey: new Map(rows.toReversed().map(([id, { meaning }]) => [id, toPlainText(meaning)])),
    byMember: new Map(members.toReversed()),
  };
}

/** Places whose keys have their rows at another place, since the same schema is used there. */
const DOCUMENTED_AT: readonly (readonly [RegExp, string])[] = [
  [/^arms\{\}(?:\.(?:steps|then))?\[\]\./, 'arms{}.'],
  [/^(arms\{\}\.\w+)\+/, '$1'],
  [/^arms\{\}\.search\.[\w-]+(?= index: )/, 'arms{}.search{}'],
  [/\.blend\.\w+\.coordinates\./, '.blend.trajectory.'],
  [/^.*(?:\bembedding|encoders\[\])(?= encoder: )/, 'embedding'],
  [/^arms\{\}\.mix\.fit\.transfer\[\]\.(?=dataset )/, ''],
  [/(?<= index: run)\.path$/, '.file'],
];

/** The words for the members of a step in the heads of tables. */
const MEMBER_WORDS: Readonly<Record<string, readonly string[]>> = {
  search: ['index', 'source', 'candidates'],
  score: ['score', 'signal'],
  fuse: ['fuse', 'method', 'fusion'],
  blend: ['blend', 'mechanism'],
  rerank: ['rerank', 'method', 'selection'],
  select: ['select', 'method', 'selection'],
};

/** The meaning of a member of a step: `arms{}.fuse.rrf`. */
function findStepMember(id: string, { byKey, byMember }: Meanings): string | undefined {
  const [, step = '', member = ''] = /^arms\{\}\.(\w+)\.([\w-]+)$/.exec(id) ?? [];
  const words = MEMBER_WORDS[step];
  if (words === undefined) return undefined;
  return (
    words.map((word) => byMember.get(`${word} ${member}`)).find((text) => text !== undefined) ??
    byKey.get(`arms{}.${step}`)
  );
}

/** The id of a key and those of the keys that {@link DOCUMENTED_AT} leads to. */
function listDocumentedIds(id: string): string[] {
  const ids = [id];
  for (const [key, other] of DOCUMENTED_AT) ids.push((ids.at(-1) as string).replace(key, other));
  return ids;
}

/** The meaning of a member, by the key that names it: `arms{}.search{} index: bm25.index`. */
function findMemberMeaning(id: string, { byKey, byMember }: Meanings): string | undefined {
  const [, path = '', member = '', key = ''] = /^(\S+) \w+: (.*)\.(\w+)$/.exec(id) ?? [];
  const [kind = ''] = path
    .replace(/\[\]|\{\}/, '')
    .split('.')
    .slice(-1);
  const words = [key, kind, kind.replace(/s$/, ''), byMember.has(`${kind} ${member}`) ? kind : ''];
  return (
    words.map((word) => byMember.get(`${word} ${member}`)).find((text) => text !== undefined) ??
    byKey.get(path.replace(/\[\]$|\{\}$/, ''))
  );
}

/**
 * Writes the meaning of every key into a JSON schema, in place.
 *
 * @param pages of docs, with a row for each key; of two rows the one of the first page is taken
 */
function describeKeys(schema: Plain, pages: readonly string[]): void {
  const meanings = readMeanings(pages);
  for (const { id, schema: key } of listKeysWithin(schema as Schema, '')) {
    const ids = listDocumentedIds(id);
    const find = (documented: string) =>
      isKind(key)
        ? findMemberMeaning(documented, meanings)
        : (meanings.byKey.get(documented) ?? findStepMember(documented, meanings));
    const meaning = ids.map(find).find((text) => text !== undefined);
    if (meaning !== undefined) (key as Plain).description = meaning;
  }
}

/** Steps that a later one of the same name may add to. */
const ADDED_TO: readonly string[] = ['search', 'score', 'mix', 'blend'];

/** Keys of an arm that is a mapping, besides its lists of steps. */
const armShape = {
  description: z.string().default(''),
  from: z.string().optional(),
  set: z.record(z.string(), z.unknown()).default({}),
  tune: z.record(z.string(), z.array(z.unknown()).min(1)).default({}),
  ...encodingOptions,
  control: controlOptions.nullable().default(null),
};

/** Keys beside a step in its list: a name of its own, and why the step may change no query. */
const besideStep = { as: z.string().optional(), unchanged: unchangedReason.optional() };

/** The options of each step by its name. */
function createStepShape(): Record<string, z.ZodType> {
  const options = Object.entries(createWrittenOptions());
  return Object.fromEntries(options.map(([name, schema]) => [name, schema.optional()]));
}

/**
 * The schema of `arms` in a config file, for editors: a mapping from the name of an arm to its steps or to a mapping.
 * Built at each call, since plugins add members. `expandNamedArms` reads and checks the arms themselves.
 */
function createWrittenArms(): z.ZodType {
  const steps = createStepShape();
  const added = ADDED_TO.map((name) => [`${name}+`, steps[name] as z.ZodType] as const);
  const step = z.strictObject({ ...steps, ...Object.fromEntries(added), ...besideStep });
  const list = z.array(z.union([z.enum(STEPS.names as [string]), step])).min(1);
  const arm = z.strictObject({ ...armShape, steps: list.optional(), then: list.optional() });
  return z.record(z.string().min(1), z.union([list, arm]));
}

/** The keys of an arm and of its steps side by side: each has one row in a reference. */
function createArmKeys(): z.ZodType {
  const list = z.array(z.unknown()).min(1);
  const shape = { ...armShape, steps: list.optional(), then: list.optional() };
  return z.record(z.string(), z.strictObject({ ...shape, ...createStepShape(), ...besideStep }));
}

/** JSON Schema's version that editors know best; the YAML extension of VS Code uses it. */
const TARGET = 'draft-7';

/** A file by its name: a resolved config has its content. */
const FILE: Plain = { type: 'string', minLength: 1 };
/** Where a name may be: key of a mapping -> its key. */
const FILE_KEYS: Readonly<Record<string, string>> = {
  mix: 'weights',
  fit: 'folds',
  trajectory: 'weights',
  slice: 'policy',
  domain: 'domain',
};

/** A source that is a run file: its file goes by this key, and has a default of its own for the number of candidates. */
function nameRunFile(kind: Plain): Plain {
  const { index, path, k, ...others } = getProperties(kind);
  const { required: _, ...rest } = kind;
  const properties = { index, file: path, k: { ...(k as Plain), default: ARM_DEPTH }, ...others };
  return { ...rest, properties, required: ['file'] };
}

/** The indexes that a source may be, by their names. */
function listIndexes(search: Plain): [string, Plain][] {
  const { oneOf, anyOf } = search.additionalProperties as { readonly oneOf?: Plain[]; readonly anyOf?: Plain[] };
  return ((oneOf ?? anyOf) as Plain[]).map((kind) => {
    const { const: name } = getProperties(kind).index as { readonly const: string };
    return [name, name === 'run' ? nameRunFile(kind) : kind];
  });
}

/**
 * The sources of a step `search`. A source whose name is an index need not state its index.
 *
 * @param isNamed whether the names of indexes are keys of their own
 */
function describeSources(search: Plain, isNamed: boolean): Plain {
  const indexes = listIndexes(search);
  const properties = isNamed ? { properties: Object.fromEntries(indexes) } : {};
  return { ...search, ...properties, additionalProperties: { anyOf: indexes.map(([, kind]) => kind) } };
}

/** Every step `search` in a schema with its sources described. */
function withSources(value: unknown, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withSources(item, isNamed));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, child]): [string, unknown] => {
    const isSearch = /^search\+?$/.test(key) && isPlain(child) && isPlain(child.additionalProperties);
    return [key, isSearch ? describeSources(child, isNamed) : withSources(child, isNamed)];
  });
  return Object.fromEntries(entries);
}

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

/** The properties of a schema of a mapping. */
export function getProperties(schema: unknown): Plain {
  return (schema as { readonly properties: Plain }).properties;
}

/** Every key that a whole config may have. */
export function listConfigKeys(): Key[] {
  const schema = z.toJSONSchema(configFile.extend({ arms: createArmKeys() }), { io: 'input' });
  return listKeysWithin(withSources(schema, false) as Schema, '');
}

/** Arms that were written out: each is checked when the config is read. */
const RESOLVED_ARMS: Plain = { type: 'array', items: { type: 'object', required: ['name', 'steps'] } };

/**
 * The JSON Schema of a config file, for editors: keys with their meanings, types, choices, defaults and bounds. What depends on several values, such as names
 * of arms, is checked only when the config is read. The schema also fits a file that others extend, and the file of a group.
 */
export function buildConfigJsonSchema(): Plain {
  const file = z.toJSONSchema(configFile.extend({ arms: createWrittenArms() }), { io: 'input', target: TARGET });
  const { $schema, ...schema } = loosen(withSources(file, true)) as Plain;
  const properties = getProperties(schema);
  const described = {
    $schema,
    title: 'A rag-plusplus experiment',
    ...schema,
    properties: { ...properties, arms: { anyOf: [properties.arms, RESOLVED_ARMS] } },
  };
  describeKeys(described, ['config.md', 'sweeps.md', 'training.md']);
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
