import { type Document, LineCounter, parseDocument } from 'yaml';
import { ConfigurationError, type ConfigurationFault, StorageError } from '../core/errors.ts';
import { readText } from '../core/files.ts';
import { valueAt } from '../core/validation.ts';

export type Plain = Record<string, unknown>;
/** Keys from the outside in; a place in a list is its number, as text. */
export type Path = readonly string[];

export function isPlain(value: unknown): value is Plain {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** What a document without syntax faults holds, aliases written out. An alias of an anchor that is not there is no fault of syntax. */
function heldBy(document: Document): { readonly value: unknown } | { readonly got: string } {
  try {
    return { value: document.toJS({ maxAliasCount: -1 }) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { got: error.message };
  }
}

/** Reads YAML 1.2. @throws ConfigurationError with every syntax fault and its line. */
export function parseYaml(text: string, source: string): Plain {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const faults: ConfigurationFault[] = document.errors.map((error) => {
    const { line, col } = lines.linePos(error.pos[0]);
    return { path: `line ${line}, column ${col}`, expected: 'valid YAML', got: error.message.split('\n')[0] as string };
  });
  if (faults.length > 0) throw new ConfigurationError(source, faults);
  const held = heldBy(document);
  if ('got' in held)
    throw new ConfigurationError(source, [{ path: '(top level)', expected: 'anchors for all aliases', got: held.got }]);
  const { value } = held;
  if (!isPlain(value))
    throw new ConfigurationError(source, [
      { path: '(top level)', expected: 'a mapping', got: JSON.stringify(value) ?? 'nothing' },
    ]);
  return value;
}

/** @throws ConfigurationError, also for a file that cannot be read. */
export function readYaml(path: string): Plain {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    const got = error instanceof StorageError && error.cause instanceof Error ? error.cause.message : String(error);
    throw new ConfigurationError(path, [{ path: '(file)', expected: 'a YAML file', got }], { cause: error });
  }
  return parseYaml(text, path);
}

/** Mappings whose keys depend on one of them, by their own key in the config. */
const KIND_KEYS: Readonly<Record<string, string>> = {
  dataset: 'name',
  embedding: 'encoder',
  fusion: 'method',
  launcher: 'name',
  selection: 'method',
  sweep: 'method',
};

/** Whether `later` is of another kind than `earlier`, so that it can't take over its keys. */
function changesKind(key: string, earlier: Plain, later: Plain): boolean {
  if (key === 'propagation') return 'preset' in earlier || 'preset' in later; // a preset stands for all the others
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
export function leafPaths(value: Plain): Path[] {
  return Object.entries(value).flatMap(([key, child]) =>
    isPlain(child) && Object.keys(child).length > 0 ? leafPaths(child).map((path) => [key, ...path]) : [[key]],
  );
}

/** A place in an array is named by its number or, where the elements have names, by its name. @returns -1 for one that there is not. */
export function indexIn(array: readonly unknown[], key: string): number {
  if (/^\d+$/.test(key)) return Number(key) < array.length ? Number(key) : -1;
  return array.findIndex((item) => isPlain(item) && item.name === key);
}

/** Mappings whose keys are themselves paths. */
const KEYED_BY_PATH: readonly (string | undefined)[] = ['tune', 'factors'];

/** The keys that a path of the form `arms.hybrid.tune.decay.halfLifeHours` goes through: a key with a dot in it, or a name, is told from two keys by what is there. */
export function keysOf(path: string, within: unknown): string[] {
  const words = path.split('.');
  const keys: string[] = [];
  let node = within;
  for (let at = 0; at < words.length; ) {
    const ends = words.map((_, i) => words.length - i).filter((end) => end > at);
    const known = ends.find((end) => has(node, words.slice(at, end).join('.')));
    const end = known ?? (KEYED_BY_PATH.includes(keys.at(-1)) ? words.length : at + 1);
    const key = words.slice(at, end).join('.');
    keys.push(Array.isArray(node) && known !== undefined ? String(indexIn(node, key)) : key);
    node = valueAt(node, keys.slice(-1));
    at = end;
  }
  return keys;
}

function has(node: unknown, key: string): boolean {
  return Array.isArray(node) ? indexIn(node, key) >= 0 : isPlain(node) && key in node;
}

/** Sets a value in place, making mappings on the way. @returns false where the path leads through something that is neither mapping nor array. */
export function setPath(target: Plain, path: readonly string[], value: unknown): boolean {
  let node: Plain | unknown[] = target;
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1;
    const place: string | number = Array.isArray(node) ? indexIn(node, key) : key;
    if (place === -1) return false;
    const holder = node as Record<string | number, unknown>;
    if (last) {
      holder[place] = value;
      return true;
    }
    if (holder[place] === undefined || holder[place] === null) holder[place] = {};
    const child: unknown = holder[place];
    if (!isPlain(child) && !Array.isArray(child)) return false;
    node = child;
  }
  return false;
}

/**
 * Applies overrides of the form `path=value`; the value is read as YAML, the path as keys joined by dots (`arms.newest-first.label=…`).
 *
 * @throws ConfigurationError naming every override that is not of that form or whose path leads nowhere.
 */
export function applyOverrides(config: Plain, overrides: readonly string[]): Plain {
  const result = structuredClone(config);
  const faults: ConfigurationFault[] = [];
  for (const override of overrides) {
    const at = override.indexOf('=');
    if (at < 1) {
      faults.push({ path: '--set', expected: 'path=value', got: JSON.stringify(override) });
      continue;
    }
    const path = override.slice(0, at);
    const document = parseDocument(override.slice(at + 1));
    const held = document.errors.length > 0 ? null : heldBy(document);
    if (held === null || 'got' in held)
      faults.push({ path, expected: 'a YAML value', got: JSON.stringify(override.slice(at + 1)) });
    else if (!setPath(result, keysOf(path, result), held.value))
      faults.push({ path, expected: 'a path into the config', got: JSON.stringify(override) });
  }
  if (faults.length > 0) throw new ConfigurationError('--set', faults);
  return result;
}
