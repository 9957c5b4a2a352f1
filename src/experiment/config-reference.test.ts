import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { PROPAGATION_PRESETS } from '../attention/presets.ts';
import { METRIC_FAMILIES } from '../evaluation/metric.ts';
import { MERGE_PRESETS } from '../fusion/weighted-merge.ts';
import { DEFAULT_WEIGHTS } from '../trajectory/coordinate-names.ts';
import { selectArms } from './arm-selection.ts';
import { configFile, loadConfig, resolveConfig } from './config.ts';
import { isPlain, merge, type Plain, parseYaml } from './config-file.ts';

const reference = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8');
const sweeps = readFileSync(new URL('../../docs/sweeps.md', import.meta.url), 'utf8');
const configs = fileURLToPath(new URL('../../configs', import.meta.url));

/** The part of JSON Schema that zod writes for a config. */
interface Schema {
  readonly type?: string;
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

interface Row {
  readonly type: string;
  readonly default: string;
  readonly meaning: string;
}

/** The schemas that a value may fit. */
function alternatives(schema: Schema): readonly Schema[] {
  return (schema.anyOf ?? schema.oneOf)?.flatMap(alternatives) ?? [schema];
}

/** A key whose value decides which others there are, such as `index: hnsw`. */
function isKind(schema: Schema): boolean {
  return typeof schema.const === 'string';
}

/** All keys within a value at `path`. */
function keysWithin(schema: Schema, path: string): Key[] {
  return alternatives(schema).flatMap(({ properties = {}, required = [], items }) => {
    if (items) return keysWithin(items, `${path}[]`);
    const entries = Object.entries(properties);
    const kinds = entries.filter(([, child]) => isKind(child)).map(([name, child]) => ` ${name}: ${child.const}`);
    const place = `${path}${kinds.join('')}`;
    return entries.flatMap(([name, child]) => {
      const id = place === '' ? name : `${place}.${name}`;
      return [{ id, required: required.includes(name), schema: child }, ...keysWithin(child, id)];
    });
  });
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

function tablesUnder(section: string): string[][][] {
  return [...section.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => table.trim().split('\n').map(cellsOf));
}

const inCode = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);

/** The rows of the reference by the id of their key: a heading names the place, and the values that the keys depend on. */
function documentedRows(): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const section of reference.split(/^#+ /m)) {
    const [place = '', ...variants] = inCode(section.split('\n')[0] as string);
    for (const [header, , ...body] of tablesUnder(section)) {
      if (header?.[0] !== 'key') continue;
      for (const [key = '', type = '', preset = '', meaning = ''] of body)
        for (const variant of variants.length === 0 ? [''] : variants.map((value) => ` ${value}`)) {
          const id = [`${place}${variant}`, ...inCode(key)].filter((part) => part !== '').join('.');
          expect(rows.has(id), `${id} stands twice`).toBe(false);
          rows.set(id, { type, default: preset, meaning });
        }
    }
  }
  return rows;
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

/** What the type of a key must mention: the words for its types, its choices, its bounds. */
function wordsOf(schema: Schema): string[] {
  return alternatives(schema).flatMap((one) => {
    if (one.enum !== undefined) return one.enum.map((choice) => `\`${choice}\``);
    if (one.const !== undefined) return [`\`${one.const}\``];
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems } = one;
    const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems].filter(
      (bound) => bound !== undefined && Math.abs(bound) !== Number.MAX_SAFE_INTEGER,
    );
    const inner = one.items && !one.items.properties && !one.items.oneOf ? wordsOf(one.items) : [];
    return [WORDS[one.type as string] as string, ...bounds.map(String), ...inner];
  });
}

/** The default as the reference has to give it; undefined where any remark will do. */
function defaultOf({ id, required, schema }: Key): unknown {
  const weight = /trajectory\.weights\.(\w+)$/.exec(id)?.[1];
  if (weight !== undefined) return DEFAULT_WEIGHTS[weight as keyof typeof DEFAULT_WEIGHTS];
  if (schema.default !== undefined) return schema.default;
  // A default that is given to a transformed value is not in the schema of the input: that of propagation.
  return !required && alternatives(schema).some(({ type }) => type === 'null') ? null : undefined;
}

const found = keysWithin(z.toJSONSchema(configFile, { io: 'input' }) as Schema, '');
const keys = found.filter(({ schema }) => !isKind(schema));
const kinds = found.filter(({ schema }) => isKind(schema));
const rows = documentedRows();

describe('the reference of the config', () => {
  test('has a row for every key that the schemas know, and for no other', () => {
    expect([...rows.keys()].sort()).toEqual(keys.map(({ id }) => id).sort());
    expect(keys.length).toBeGreaterThan(70);
  });

  test.each(keys)('says of $id of which type it is and what its default is', (key) => {
    const row = rows.get(key.id) as Row;
    for (const word of wordsOf(key.schema)) expect(row.type).toContain(word);
    expect(row.meaning).not.toBe('');
    const value = defaultOf(key);
    if (key.required) expect(row.default).toBe('required');
    else if (value === undefined) expect(row.default).toMatch(/^(none|all 1)$/);
    else if (row.default === 'as below') expect(value).toEqual({});
    else expect(parse(inCode(row.default)[0] ?? '(nothing in code)')).toEqual(value);
  });

  test('has a heading for every kind of dataset, encoder, index, fusion, launcher and sweep', () => {
    const headings = reference.split('\n').filter((line) => line.startsWith('#'));
    for (const { id } of kinds) {
      const [, place, kind] = /^(\S+) (.*)\.\w+$/.exec(id) ?? [];
      expect(
        headings.filter((line) => inCode(line)[0] === place && inCode(line).includes(kind as string)),
        id,
      ).toHaveLength(1);
    }
    expect(kinds.length).toBeGreaterThan(10);
  });

  test('lists every metric with the cutoffs that it takes', () => {
    const forms = METRIC_FAMILIES.map(({ name, cutoff }) =>
      [...(cutoff === 'required' ? [] : [`\`${name}\``]), ...(cutoff === 'none' ? [] : [`\`${name}@k\``])].join(', '),
    );
    const [table = []] = tablesUnder(reference.split(/^### Metrics$/m)[1] as string);
    expect(table.slice(2).map(([metric]) => metric)).toEqual(forms);
  });

  test('has the figures of every preset', () => {
    const [header, , ...body] = tablesUnder(reference).find(([first]) => first?.[0] === 'preset') ?? [];
    const table = body.map(([name, ...cells]) => [inCode(name as string)[0], cells.map((cell) => parse(cell))]);
    expect(table).toEqual(
      Object.entries(PROPAGATION_PRESETS).map(([name, preset]) => [
        name,
        header?.slice(1).map((key) => preset[key as keyof typeof preset]),
      ]),
    );
    const { meaning } = rows.get('arms[].relevance.fusion method: weighted.weights') as Row;
    for (const [name, [first, second]] of Object.entries(MERGE_PRESETS))
      expect(meaning).toMatch(new RegExp(`\`${name}\` (is )?${first} and ${second}`));
  });
});

/** The marked blocks of a page: a whole config, a part of one, an arm, or a file that names others. */
function blocksOf(page: string) {
  return [...page.matchAll(/^```yaml ?(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, text], i) => ({
    kind: kind as string,
    text: text as string,
    at: i + 1,
  }));
}

describe.each([
  ['docs/config.md', reference],
  ['docs/sweeps.md', sweeps],
])('the examples of %s', (source, page) => {
  const root = mkdtempSync(join(tmpdir(), 'ragpp-reference-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const whole = parseYaml(blocksOf(reference).find(({ kind }) => kind === '')?.text as string, 'docs/config.md');

  /** A fragment as part of a whole config: an arm by itself is compared with itself. */
  function completed(kind: string, content: Plain): Plain {
    if (kind === '') return content;
    const part = kind === 'arm' ? { arms: [content] } : content;
    const first: unknown = Array.isArray(part.arms) ? part.arms[0] : undefined;
    return merge(merge(whole, part), isPlain(first) ? { evaluation: { baseline: first.name } } : {});
  }

  /** A file as it would stand among the configs of the project. */
  function loadedFrom(text: string) {
    mkdirSync(join(root, 'configs'), { recursive: true });
    for (const folder of ['groups', 'sweeps']) symlinkSync(join(configs, folder), join(root, 'configs', folder), 'dir');
    writeFileSync(join(root, 'configs', 'example.yaml'), text);
    return loadConfig(join(root, 'configs', 'example.yaml'));
  }

  test.each(blocksOf(page))('block $at, $kind, is a valid config', ({ kind, text }) => {
    expect(['', 'arm', 'part', 'file']).toContain(kind);
    if (kind === 'file') expect(() => loadedFrom(text)).not.toThrow();
    else expect(() => resolveConfig(completed(kind, parseYaml(text, source)), source)).not.toThrow();
  });

  test('every command with a config of the project can be typed', () => {
    const shell = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text]) => (text as string).split('\n'));
    const lines = shell.filter((line) => line.includes(' configs/'));
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) {
      const words = (option: string) =>
        [...line.matchAll(new RegExp(`${option} (?:'([^']*)'|(\\S+))`, 'g'))].map(
          ([, quoted, bare]) => (quoted ?? bare) as string,
        );
      const [, file] = / (?:run|config show) configs\/(\S+)/.exec(line) ?? [];
      expect(words('--set')).toHaveLength(line.split('--set').length - 1);
      expect(() => selectArms(loadConfig(join(configs, file as string), words('--set')), words('--arm'))).not.toThrow();
    }
  });
});
