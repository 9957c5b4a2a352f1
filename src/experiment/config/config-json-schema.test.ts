import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { least } from './config.fixture.ts';
import { merge, type Plain } from './config-file.ts';
import { buildConfigJsonSchema } from './config-json-schema.ts';

type Bound =
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems';

/** The keywords that the schema uses; a test below requires that there are no others. */
interface Schema extends Readonly<Partial<Record<Bound, number>>> {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly pattern?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  /** A list of schemas is of the first items. */
  readonly items?: Schema | readonly Schema[];
  readonly additionalItems?: false;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

const schema = buildConfigJsonSchema() as Schema;
const configs = fileURLToPath(new URL('../../../configs', import.meta.url));

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function fitsType(value: unknown, types: readonly string[]): boolean {
  return types.some((type) => (type === 'integer' ? Number.isInteger(value) : type === typeOf(value)));
}

/** The paths at which a value does not fit, by the rules of JSON Schema. */
function listMisfits(value: unknown, rule: Schema, path = ''): string[] {
  const here = (isFine: boolean) => (isFine ? [] : [path]);
  const found = [
    ...here(rule.type === undefined || fitsType(value, [rule.type].flat())),
    ...here(rule.enum === undefined || rule.enum.includes(value)),
    ...here(rule.const === undefined || rule.const === value),
  ];
  if (rule.anyOf !== undefined) {
    const misfits = rule.anyOf.map((one) => listMisfits(value, one, path));
    if (misfits.every((list) => list.length > 0))
      found.push(...(misfits.toSorted((a, b) => a.length - b.length)[0] ?? []));
  }
  for (const one of rule.allOf ?? []) found.push(...listMisfits(value, one, path));
  if (typeof value === 'number')
    found.push(
      ...here(
        value >= (rule.minimum ?? -Infinity) &&
          value <= (rule.maximum ?? Infinity) &&
          value > (rule.exclusiveMinimum ?? -Infinity) &&
          value < (rule.exclusiveMaximum ?? Infinity),
      ),
    );
  if (typeof value === 'string')
    found.push(
      ...here(
        new RegExp(rule.pattern ?? '', 'u').test(value) &&
          value.length >= (rule.minLength ?? 0) &&
          value.length <= (rule.maxLength ?? Infinity),
      ),
    );
  if (Array.isArray(value)) {
    found.push(...here(value.length >= (rule.minItems ?? 0) && value.length <= (rule.maxItems ?? Infinity)));
    for (const [i, item] of value.entries()) {
      const one = [rule.items ?? {}].flat()[Array.isArray(rule.items) ? i : 0];
      if (one !== undefined) found.push(...listMisfits(item, one, `${path}[${i}]`));
      else if (rule.additionalItems === false) found.push(`${path}[${i}]`);
    }
  } else if (typeOf(value) === 'object') found.push(...listMisfitKeys(value as Plain, rule, path));
  return found;
}

function listMisfitKeys(
  value: Plain,
  { properties = {}, required = [], additionalProperties = true }: Schema,
  path: string,
) {
  const missing = required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${path}.${key}`);
  const inner = Object.entries(value).flatMap(([key, child]) => {
    const rule = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (rule === false) return [`${path}.${key}`];
    return rule === true || rule === undefined ? [] : listMisfits(child, rule, `${path}.${key}`);
  });
  return [...missing, ...inner];
}

test('there are configs and groups to check', () => {
  expect(files).toEqual(expect.arrayContaining(['quickstart.yaml', 'groups/dataset/mail.yaml']));
});

test('the schema uses no keyword that this check leaves out', () => {
  const known = new Set(
    (
      'type properties required additionalProperties items anyOf enum const minimum maximum exclusiveMinimum exclusiveMaximum ' +
      'allOf additionalItems minLength maxLength minItems maxItems pattern default description title $schema propertyNames'
    ).split(' '),
  );
  const strange = new Set<string>();
  const visit = (rule: unknown, isMapping = false): void => {
    if (typeof rule !== 'object' || rule === null) return;
    for (const [key, child] of Object.entries(rule)) {
      if (!isMapping && !Array.isArray(rule) && !known.has(key)) strange.add(key);
      if (!['default', 'enum', 'const', 'required', 'propertyNames'].includes(key) || isMapping)
        visit(child, !isMapping && key === 'properties');
    }
  };
  visit(schema);
  expect([...strange]).toEqual([]);
});

/** Configs of trainings have a schema of their own. */
const files = readdirSync(configs, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.yaml') && !file.startsWith('learning'),
);

test.each(files)('configs/%s fits', (file) => {
  expect(listMisfits(parse(readFileSync(join(configs, file), 'utf8')), schema)).toEqual([]);
});

describe('what does not fit', () => {
  test.each<[Plain, string]>([
    [{ sede: 1 }, '.sede'],
    [{ name: 'A b' }, '.name'],
    [{ seed: 0.5 }, '.seed'],
    [{ backend: 'gpu' }, '.backend'],
    [{ evaluation: { samples: 1 } }, '.evaluation.samples'],
    [{ evaluation: { smaples: 100 } }, '.evaluation.smaples'],
    [{ embedding: { encoder: 'lsi' } }, '.embedding.encoder'],
    [{ embedding: { encoder: 'lsa', efSearch: 3 } }, '.embedding.efSearch'],
    [{ base: { decay: { halfLifeHours: -1 } } }, '.base.decay.halfLifeHours'],
    [{ arms: [{ extends: 'plain' }] }, '.arms[0].name'],
    [{ arms: [{ name: 'x', decay: { halfLife: 3 } }] }, '.arms[0].decay.halfLife'],
    [{ arms: [{ name: 'x', candidates: [{ index: 'hnsw', k1: 1 }] }] }, '.arms[0].candidates[0].k1'],
    [{ seeds: 101 }, '.seeds'],
  ])('%j', (change, path) => {
    expect(listMisfits(least, schema)).toEqual([]);
    expect(listMisfits(merge(least, change), schema)).toContain(path);
  });
});

test.each<Plain>([
  { arms: [{ name: 'theirs', run: 'theirs.trec' }] },
  { arms: [{ name: 'theirs', run: { file: 'theirs.trec', k: 100 } }] },
  { base: { run: 'theirs.trec' }, arms: [{ name: 'ours', run: null }] },
  { datasets: { mail: { name: 'spamassassin-threads' }, own: { name: 'jsonl', path: 'data' } } },
])('%j fits', (change) => {
  expect(listMisfits(merge(least, change), schema)).toEqual([]);
});

describe('what an editor shows of a key', () => {
  /** Every key of a schema with its rule, by path. */
  function listRules(rule: Schema, path = ''): [string, Plain][] {
    const inner = [...(rule.anyOf ?? []), ...[rule.items ?? []].flat()].flatMap((one) => listRules(one, path));
    const values = typeof rule.additionalProperties === 'object' ? listRules(rule.additionalProperties, path) : [];
    const own = Object.entries(rule.properties ?? {}).flatMap(([key, child]): [string, Plain][] => [
      [`${path}.${key}`, child as Plain],
      ...listRules(child, `${path}.${key}`),
    ]);
    return [...own, ...inner, ...values];
  }
  const rules = listRules(schema);
  const describeKey = (path: string, value?: string) =>
    rules.find(([at, { const: name }]) => at === path && (value === undefined || name === value))?.[1].description;

  test('every key has a description, without links', () => {
    expect(rules.length).toBeGreaterThan(500);
    const missing = rules.filter(([, { description }]) => typeof description !== 'string' || description === '');
    expect(missing.map(([path]) => path)).toEqual([]);
    expect(rules.filter(([, { description }]) => /\]\(|#/.test(description as string))).toEqual([]);
  });

  test('is the meaning in the reference, wherever the key is', () => {
    expect(describeKey('.seed')).toBe('feeds every random stream: the SVD, hnsw, resampling');
    expect(describeKey('.sweep')).toBe('generates arms');
    expect(describeKey('.sweep.method', 'grid')).toBe('every combination of levels');
    for (const start of ['.arms', '.base']) {
      expect(describeKey(`${start}.candidates.efSearch`)).toMatch(/^candidates considered when a query is answered/);
      expect(describeKey(`${start}.relevance.fusion.method`, 'rrf')).toMatch(/^reciprocal rank fusion/);
    }
    for (const start of ['.embedding', '.arms.embedding', '.base.embedding'])
      expect(describeKey(`${start}.oversampling`)).toBe(
        'additional random directions, for exact last singular vectors',
      );
    for (const start of ['.dataset', '.datasets'])
      expect(describeKey(`${start}.name`, 'irc')).toMatch(/^a busy IRC channel: a message must find/);
  });

  test('defaults and choices are in the schema', () => {
    const find = (path: string) => rules.find(([at]) => at === path)?.[1];
    expect(find('.evaluation.test')).toMatchObject({ default: 'permutation', enum: ['permutation', 't', 'wilcoxon'] });
    expect(find('.arms.run.k')).toMatchObject({ default: 1000, minimum: 1 });
    expect(find('.tuning.metric')).toMatchObject({ default: 'mrr@10' });
  });
});
