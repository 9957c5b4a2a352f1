import { type ConfigurationFault, ValidationError } from '../../core/errors/errors.ts';
import { check, formatPath, shortenToExcerpt } from '../../core/validation/validation.ts';
import {
  countCombinations,
  describeUnknownArm,
  type ExpandedArm,
  findPartPath,
  formatFileName,
  hasValueAt,
  type Layer,
  listCombinations,
  OWN_KEYS,
} from '../composition/arms.ts';
import { type ComposedConfig, findWriter } from '../composition/config-composition.ts';
import { isPlain, type Path, type Plain, parsePath } from '../composition/config-file.ts';
import { CONFIG_LIMITS } from '../composition/yaml-text.ts';
import { SWEPT } from '../sweep/sweep.ts';
import { applyTunedPoint, describeControl } from './arm-selection.ts';
import { type ArmOptions, armOptions } from './config-schema.ts';

/**
 * The keys that the schemas of configs know, and the rows that a reference in Markdown has for them. Loads no test
 * runner.
 */

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

/** Arms with a name that an arm before them has. */
export function findDuplicateNames(arms: readonly unknown[]): ConfigurationFault[] {
  const known = new Set<string>();
  return arms.flatMap((arm, i) => {
    if (!isPlain(arm) || typeof arm.name !== 'string') return [];
    const name = formatFileName(arm.name);
    const isKnown = known.has(name);
    known.add(name);
    return isKnown
      ? [{ path: `arms[${i}].name`, expected: 'a name that no arm before it has', got: JSON.stringify(name) }]
      : [];
  });
}

/** Names of unknown arms; omits arms that an invalid sweep would have generated. */
export function findNameFaults(
  { evaluation, only }: Plain,
  arms: readonly unknown[],
  faults: readonly ConfigurationFault[],
): ConfigurationFault[] {
  const names = arms.flatMap((arm) => (isPlain(arm) && typeof arm.name === 'string' ? [arm.name] : []));
  const wanted: [path: string, name: unknown][] = [
    ['evaluation.baseline', isPlain(evaluation) ? evaluation.baseline : undefined],
    ...(Array.isArray(only) ? only.map((name, i): [string, unknown] => [`only[${i}]`, name]) : []),
  ];
  const known = new Set(names);
  const isSweepAtFault = faults.some(({ path }) => path.startsWith('sweep'));
  const unknown = wanted.filter(
    ([, name]) =>
      typeof name === 'string' && known.size > 0 && !known.has(name) && !(name.includes(SWEPT) && isSweepAtFault),
  );
  return unknown.map(([path, name], i) => describeUnknownArm({ path, expected: 'an arm' }, name, names, i));
}

/** Checks every value that tuning would try before anything runs; omits an arm that is invalid without tuning. */
export function findTuneFaults(arm: unknown, index: number): ConfigurationFault[] {
  if (!isPlain(arm) || !isPlain(arm.tune) || Object.keys(arm.tune).length === 0) return [];
  const untuned = check(armOptions, arm);
  if ('faults' in untuned) return [];
  const resolved: ArmOptions = untuned.value;
  const { tune } = resolved;
  const path = `arms[${index}].tune`;
  const stray = Object.keys(tune).filter((key) => !isTunable(resolved, key));
  if (stray.length > 0)
    return stray.map((key) => ({ path, expected: 'a path to an option of the arm', got: JSON.stringify(key) }));
  if (countCombinations(tune) > CONFIG_LIMITS.tunePoints) return []; // an error of its own
  return listCombinations(tune).flatMap((point) => {
    const tried = check(armOptions, applyTunedPoint(resolved, point));
    return 'faults' in tried
      ? tried.faults.map((fault) => ({ ...fault, path: `${path}${locateTried(fault, tune)}` }))
      : [];
  });
}

/** The key or value of a grid that an error is about; for an error at another path, that path after a colon. */
function locateTried({ path, got }: ConfigurationFault, tune: ArmOptions['tune']): string {
  const values = tune[path];
  if (values === undefined) return `: ${path}`;
  const at = values.findIndex((value) => shortenToExcerpt(value) === got);
  return at < 0 ? `.${path}` : `.${path}[${at}]`;
}

/** The number of tuning points of all arms together, and the number of arms. */
export function findSizeFaults(arms: readonly unknown[]): ConfigurationFault[] {
  const { arms: mostArms, tunePoints: mostPoints } = CONFIG_LIMITS;
  if (arms.length > mostArms)
    return [
      {
        path: 'arms',
        expected: `at most ${mostArms} arms, with those of a sweep and null controls`,
        got: `${arms.length}; write fewer`,
      },
    ];
  let points = 0;
  for (const [i, arm] of arms.entries()) {
    const grid = isPlain(arm) && isPlain(arm.tune) ? arm.tune : {};
    const lists = Object.entries(grid).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
    if (lists.length > 0) points += countCombinations(Object.fromEntries(lists));
    if (points <= mostPoints) continue;
    const expected = `at most ${mostPoints} points in the grids of all arms`;
    return [{ path: `arms[${i}].tune`, expected, got: `${points} up to this arm; list fewer values` }];
  }
  return [];
}

function isTunable(arm: ArmOptions, path: string): boolean {
  return !OWN_KEYS.includes(path.split('.')[0] as string) && applyTunedPoint(arm, { [path]: null }) !== null;
}

/** A config whose arms are written out. */
interface ExpandedConfig {
  readonly composed: ComposedConfig;
  readonly arms: readonly ExpandedArm[];
}

/** All arms, and all faults. */
interface Told {
  readonly arms: readonly ExpandedArm[];
  readonly told: ReadonlySet<string>;
}

/** `arms[3].decay.halfLifeHours` */
function formatKeys(keys: Path): string {
  return formatPath(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)));
}

/** The path of a fault as keys; what follows `: ` is within a value that is not in the config itself. */
function parseFaultPath(path: string, config: unknown): { readonly keys: Path; readonly remark: string } {
  const [keyPath = '', ...remark] = path.split(/(?=: )/);
  const dotted = keyPath.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '');
  return { keys: parsePath(dotted, config), remark: remark.join('') };
}

/** Where a layer has, or could have, a value at a path within its arm. A key that does not exist is the fault of a factor, not of each of its values. */
function keyPathIn({ keyPath, at }: Layer, keys: Path, fault: ConfigurationFault): Path {
  const isKey = keyPath[0] === 'sweep' && at.length === keys.length && fault.got.startsWith('unknown key');
  return isKey ? keyPath.slice(0, 3) : [...keyPath, ...keys.slice(at.length)];
}

/** An error of a swept arm that none of its levels caused: reported for the first arm that has it. */
function formatSweptPath(arm: ExpandedArm, keys: Path): string {
  return `sweep: arm ${JSON.stringify((arm.options as { readonly name: string }).name)}: ${formatKeys(keys)}`;
}

/** Path and expectation of a fault, by which an arm knows a fault that it takes over. */
const identify = (path: string, expected: string) => `${path}: ${expected}`;

/** True if the arm that an arm starts from, or the experiment, has the same error. */
function isTakenOver({ expected }: ConfigurationFault, keys: Path, arm: ExpandedArm, { arms, told }: Told): boolean {
  const { extends: start } = arm.options as Plain;
  const parent = arms.findIndex(({ options }) => isPlain(options) && start !== undefined && options.name === start);
  const above = parent < 0 ? keys : ['arms', String(parent), ...keys];
  return told.has(identify(formatKeys(above), expected)) || told.has(identify(formatKeys(keys), expected));
}

/** The layers that are of an arm alone: not those of the arm that it starts from. */
function listOwnLayers({ layers, keyPath }: ExpandedArm): readonly Layer[] {
  if (keyPath === null) return layers.filter((layer) => layer.keyPath[0] === 'sweep');
  return layers.slice(layers.findIndex((layer) => layer.keyPath === keyPath));
}

/** The place where an arm wrote the value of an error; undefined for a value that it inherits or that is missing. */
function findOwnPath(fault: ConfigurationFault, keys: Path, arm: ExpandedArm): Path | undefined {
  const own = listOwnLayers(arm);
  const writer = arm.layers.findLast((layer) => hasValueAt(layer, keys));
  if (writer !== undefined) return own.includes(writer) ? keyPathIn(writer, keys, fault) : undefined;
  const part = findPartPath(arm.layers, keys);
  return part !== undefined && own.some(({ keyPath }) => keyPath.every((key, i) => key === part[i])) ? part : undefined;
}

/** Keys of resolved arms that are not keys of a written arm. */
const OF_WHOLE_ARMS: readonly (string | undefined)[] = ['name', 'steps'];

/** The path of an error of a resolved arm in the config; undefined if the arm that it starts from reports the error. */
function locateArmFault(fault: ConfigurationFault, keys: Path, arm: ExpandedArm, told: Told): string | undefined {
  const path = findOwnPath(fault, keys, arm);
  if (path !== undefined) return formatKeys(path);
  if (isTakenOver(fault, keys, arm, told)) return undefined;
  if (arm.keyPath === null) return formatSweptPath(arm, keys);
  return formatKeys(OF_WHOLE_ARMS.includes(keys[0]) ? arm.keyPath : [...arm.keyPath, ...keys]);
}

/** Where a path in one of several datasets is written. */
export function findDatasetPath(keys: Path, { datasetPaths }: ComposedConfig): Path {
  if (datasetPaths === undefined) return keys;
  const [first, name = '', ...rest] = keys;
  if (first === 'dataset') return [...datasetPaths.chosen, ...keys.slice(1)];
  const path = first === 'datasets' ? datasetPaths.byName.get(name) : undefined;
  return path === undefined ? keys : [...path, ...rest];
}

/**
 * Maps an error of the resolved config to the config as written.
 *
 * @param expanded the written-out config.
 */
function translateToWritten(
  fault: ConfigurationFault,
  expanded: Plain,
  { composed, arms }: ExpandedConfig,
  told: Told['told'],
): ConfigurationFault[] {
  if (isPlain(composed.content.arms) && fault.path.startsWith('arms.')) return [fault]; // by name, as it is written
  const { keys, remark } = parseFaultPath(fault.path, expanded);
  const [first, keyPath, ...rest] = keys;
  if (first === 'dataset' || first === 'datasets')
    return [{ ...fault, path: `${formatKeys(findDatasetPath(keys, composed))}${remark}` }];
  const arm = first === 'arms' && keyPath !== undefined ? arms[Number(keyPath)] : undefined;
  if (arm === undefined || !isPlain(arm.options) || rest.length === 0) return [fault];
  const path = locateArmFault(fault, rest, arm, { arms, told });
  return path === undefined ? [] : [{ ...fault, path: `${path}${remark}` }];
}

/** An error at its path in the file that set the value, with that file if it is not the requested one. */
function locateInFile(fault: ConfigurationFault, composed: ComposedConfig): ConfigurationFault {
  const { keys, remark } = parseFaultPath(fault.path, composed.content);
  const { file, path, line } = findWriter(keys, composed);
  const located = { ...fault, path: `${formatKeys(path)}${remark}`, ...(line === undefined ? {} : { line }) };
  return file === composed.source ? located : { ...located, file };
}

/** Every error once, at the place and in the file where the value was set. */
export function locateFaults(faults: readonly ConfigurationFault[], config: ExpandedConfig): ConfigurationFault[] {
  const told = new Set(faults.map(({ path, expected }) => identify(path, expected)));
  const { composed, arms } = config;
  const expanded = { ...composed.content, arms: arms.map(({ options }) => options) };
  const written = faults.flatMap((fault) => translateToWritten(fault, expanded, config, told));
  // Each arm of a sweep reports the same error, with its own name and number.
  const id = ({ path, expected, got }: ConfigurationFault) =>
    path.startsWith('sweep') ? `${path.replace(/^sweep: arm .*: /, '')} ${expected}` : `${path} ${expected} ${got}`;
  const unique = [...new Map(written.toReversed().map((fault) => [id(fault), fault])).values()].reverse();
  return unique.map((fault) => locateInFile(fault, composed));
}

/** Several controls of one kind for one arm: they would have the same name. */
export function findControlFaults(arms: readonly ArmOptions[]): ConfigurationFault[] {
  const known = new Set<string>();
  return arms.flatMap((arm, i) => {
    if (arm.control === null || arm.repeats !== null) return [];
    const control = JSON.stringify(describeControl(arm));
    const isKnown = known.has(control);
    known.add(control);
    const fault = { path: `arms[${i}].control`, expected: 'one control of each kind for an arm' };
    return isKnown ? [{ ...fault, got: JSON.stringify(arm.control.kind) }] : [];
  });
}
