import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { ConfigurationError, type ConfigurationFault, StorageError } from '../../core/errors/errors.ts';
import { readBytes } from '../../core/files/files.ts';
import { getValueAt, shortenToExcerpt, withNearest } from '../../core/validation/validation.ts';
import { CONFIG_LIMITS, type FindLine, readYamlText } from './yaml-text.ts';

/** A mapping as read from YAML or JSON, before it is checked. */
export type Plain = Record<string, unknown>;
/** Keys from the outside in; a place in a list is its number, as text. */
export type Path = readonly string[];

export function isPlain(value: unknown): value is Plain {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Reads YAML 1.2. @throws ConfigurationError with every syntax fault and its line. */
export function parseYaml(text: string, source: string): Plain {
  return parseYamlWithLines(text, source).content;
}

/** A mapping as read from a text, and the lines of its values. */
export interface LocatedYaml {
  readonly content: Plain;
  readonly findLine: FindLine;
}

function parseYamlWithLines(text: string, source: string): LocatedYaml {
  const read = readYamlText(text, true);
  if ('faults' in read) throw new ConfigurationError(source, read.faults);
  return { content: read.value as Plain, findLine: read.findLine };
}

/** The text of a file. @throws ConfigurationError for one that can't be read, is too large or holds no text. */
function readConfigText(path: string): string {
  const createFileFault = (got: string, cause?: unknown) =>
    new ConfigurationError(path, [{ path: '(file)', expected: 'a YAML file', got }], { cause });
  let bytes: Uint8Array;
  try {
    const { size } = statSync(path);
    if (size > CONFIG_LIMITS.fileBytes)
      throw createFileFault(`one of ${size} bytes, more than ${CONFIG_LIMITS.fileBytes}`);
    bytes = readBytes(path);
  } catch (error) {
    if (error instanceof ConfigurationError || !(error instanceof Error)) throw error;
    throw createFileFault(
      error instanceof StorageError && error.cause instanceof Error ? error.cause.message : error.message,
      error,
    );
  }
  if (!isUtf8(bytes) || bytes.includes(0)) throw createFileFault(`a binary file of ${bytes.length} bytes`);
  return new TextDecoder().decode(bytes);
}

/** @throws ConfigurationError, also for a file that cannot be read. */
export function readYaml(path: string): Plain {
  return readYamlWithLines(path).content;
}

/** @throws ConfigurationError, also for a file that cannot be read. */
export function readYamlWithLines(path: string): LocatedYaml {
  return parseYamlWithLines(readConfigText(path), path);
}

/** Mappings whose keys depend on one of them, by their own key in the config. */
const KIND_KEYS: Readonly<Record<string, string>> = {
  dataset: 'name',
  embedding: 'encoder',
  launcher: 'name',
  sweep: 'method',
  model: 'name',
};

/** True if `later` is of another kind than `earlier`, so that it keeps none of its keys. */
function changesKind(key: string, earlier: Plain, later: Plain): boolean {
  if (key === 'fuse' || key === 'select' || key === 'rerank') return Object.keys(earlier)[0] !== Object.keys(later)[0];
  const kind = KIND_KEYS[key];
  return kind !== undefined && later[kind] !== undefined && later[kind] !== earlier[kind];
}

/** `later` over `earlier`: mappings merge key by key, unless they are of different kinds; everything else replaces. */
export function merge(earlier: Plain, later: Plain): Plain {
  const merged: Plain = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    const before = merged[key];
    const joins = isPlain(before) && isPlain(value) && !changesKind(key, before, value);
    merged[key] = joins ? merge(before, value) : value;
  }
  return merged;
}

/** The paths at which a mapping holds something other than a further mapping. */
export function listLeafPaths(value: Plain): Path[] {
  return Object.entries(value).flatMap(([key, child]) =>
    isPlain(child) && Object.keys(child).length > 0 ? listLeafPaths(child).map((path) => [key, ...path]) : [[key]],
  );
}

/** The index of an element, given by its number or, if the elements have names, by its name. @returns -1 for an unknown one. */
function indexIn(array: readonly unknown[], key: string): number {
  if (/^\d+$/.test(key)) return Number(key) < array.length ? Number(key) : -1;
  return array.findIndex((item) => isPlain(item) && item.name === key);
}

/** Mappings whose keys are themselves paths. */
const KEYED_BY_PATH: readonly (string | undefined)[] = ['set', 'tune', 'factors'];

/** The words of a path between its dots; what stands in double quotes is one word. */
const splitPath = (path: string) =>
  Array.from(path.matchAll(/(?:^|\.)(?:"([^"]*)"(?=\.|$)|([^.]*))/g), ([, quoted, word]) => quoted ?? (word as string));

/**
 * The keys that a path of the form `arms.hybrid.tune.decay.halfLifeHours` goes through. A key with dots is found as the longest one that the content has there,
 * which has at most {@link CONFIG_LIMITS.pathParts} parts; a new one stands in double quotes.
 */
export function parsePath(path: string, within: unknown): string[] {
  const words = splitPath(path);
  const keys: string[] = [];
  let node = within;
  for (let at = 0; at < words.length; ) {
    const known = findKeyEnd(words, at, node);
    const end = known ?? (KEYED_BY_PATH.includes(keys.at(-1)) ? words.length : at + 1);
    const key = words.slice(at, end).join('.');
    keys.push(Array.isArray(node) && known !== undefined ? String(indexIn(node, key)) : key);
    node = getValueAt(node, keys.slice(-1));
    at = end;
  }
  return keys;
}

/** Where the longest key ends that a mapping or list has and that begins at a word. */
function findKeyEnd(words: readonly string[], at: number, node: unknown): number | undefined {
  if (!isPlain(node) && !Array.isArray(node)) return undefined;
  for (let end = Math.min(words.length, at + CONFIG_LIMITS.pathParts); end > at; end--)
    if (has(node, words.slice(at, end).join('.'))) return end;
  return undefined;
}

function has(node: Plain | readonly unknown[], key: string): boolean {
  return Array.isArray(node) ? indexIn(node, key) >= 0 : Object.hasOwn(node, key);
}

/** Sets a value in place, making mappings on the way. @returns false if the path leads through a value that is neither mapping nor array. */
export function setPath(target: Plain, path: readonly string[], value: unknown): boolean {
  let node: Plain | unknown[] = target;
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1;
    const keyPath: string | number = Array.isArray(node) ? indexIn(node, key) : key;
    if (keyPath === -1) return false;
    if (keyPath === '__proto__') return false;
    const holder = node as Record<string | number, unknown>;
    if (last) {
      holder[keyPath] = value;
      return true;
    }
    const own = Object.hasOwn(holder, keyPath) ? holder[keyPath] : null;
    if (own === undefined || own === null) holder[keyPath] = {};
    const child: unknown = holder[keyPath];
    if (!isPlain(child) && !Array.isArray(child)) return false;
    node = child;
  }
  return false;
}

/** An arm that is a list of steps as a mapping, which other keys may join. */
export function nameSteps(arm: unknown): unknown {
  return Array.isArray(arm) ? { steps: arm } : arm;
}

/** Lets an override write a key, such as `set`, into an arm that is a list of steps. */
function makeRoomInArm({ arms }: Plain, [first, name = '', key = '0']: Path): void {
  if (first === 'arms' && isPlain(arms) && Array.isArray(arms[name]) && !/^\d+$/.test(key))
    arms[name] = nameSteps(arms[name]);
}

/** A path into an arm that the config does not have. A new arm is a whole one, a list of steps or a mapping at its name. */
function findUnknownArm({ arms }: Plain, [first, name, ...rest]: Path, value: unknown): ConfigurationFault | null {
  const isNew = rest.length === 0 && value !== null && typeof value === 'object';
  if (first !== 'arms' || name === undefined || isNew || getValueAt(arms, [name]) !== undefined) return null;
  const names = Array.isArray(arms)
    ? arms.flatMap((arm) => (isPlain(arm) ? [String(arm.name)] : []))
    : Object.keys(arms ?? {});
  const expected = `an arm of the config (${names.join(', ') || 'there is none'}), or a whole arm as the value`;
  return withNearest({ path: `arms.${name}`, expected, got: JSON.stringify(name) }, name, names);
}

/** Applies one override to a config in place. @returns its errors. */
function applyOverride(config: Plain, override: string): readonly ConfigurationFault[] {
  const at = override.indexOf('=');
  if (at < 1) return [{ path: '--set', expected: 'path=value', got: shortenToExcerpt(override) }];
  const [path, text] = [override.slice(0, at), override.slice(at + 1)];
  const parts = path.split('.').length;
  if (parts > CONFIG_LIMITS.pathParts) {
    const expected = `a path of at most ${CONFIG_LIMITS.pathParts} parts`;
    return [{ path: '--set', expected, got: `${parts} in ${shortenToExcerpt(path)}` }];
  }
  const read = readYamlText(text, false);
  if ('faults' in read) {
    const [first] = read.faults;
    return [{ path, expected: `a YAML value (${first?.path}: ${first?.got})`, got: shortenToExcerpt(text) }];
  }
  const keys = parsePath(path, config);
  const unknown = findUnknownArm(config, keys, read.value);
  if (unknown !== null) return [unknown];
  makeRoomInArm(config, keys);
  if (setPath(config, parsePath(path, config), read.value)) return [];
  return [{ path, expected: 'a path into the config', got: shortenToExcerpt(override) }];
}

/**
 * Applies overrides of the form `path=value`; the value is read as YAML, the path as keys joined by dots (`arms.newest-first.label=…`).
 *
 * @throws ConfigurationError naming every override that is not of that form or whose path leads nowhere.
 */
export function applyOverrides(config: Plain, overrides: readonly string[]): Plain {
  const result = structuredClone(config);
  const faults = overrides.flatMap((override) => applyOverride(result, override));
  if (faults.length > 0) throw new ConfigurationError('--set', faults);
  return result;
}
