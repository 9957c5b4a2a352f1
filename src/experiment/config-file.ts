import { LineCounter, parseDocument } from 'yaml';
import { ConfigurationError, type ConfigurationFault, StorageError } from '../core/errors.ts';
import { readText } from '../core/files.ts';

export type Plain = Record<string, unknown>;

export function isPlain(value: unknown): value is Plain {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
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
  const value: unknown = document.toJS();
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

/** `later` over `earlier`: mappings merge key by key, everything else replaces. */
export function merge(earlier: Plain, later: Plain): Plain {
  const merged: Plain = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    const before = merged[key];
    merged[key] = isPlain(before) && isPlain(value) ? merge(before, value) : value;
  }
  return merged;
}

/** A place in an array is named by its number or, where the elements have names, by its name. */
function indexIn(array: readonly unknown[], key: string): number {
  if (/^\d+$/.test(key)) return Number(key);
  return array.findIndex((item) => isPlain(item) && item.name === key);
}

/** Sets a value in place, making mappings on the way. @returns false where the path leads through something that is neither mapping nor array. */
export function setPath(target: Plain, path: readonly string[], value: unknown): boolean {
  let node: Plain | unknown[] = target;
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1;
    const place: string | number = Array.isArray(node) ? indexIn(node, key) : key;
    if (Array.isArray(node) && ((place as number) < 0 || (place as number) >= node.length)) return false;
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
    if (document.errors.length > 0)
      faults.push({ path, expected: 'a YAML value', got: JSON.stringify(override.slice(at + 1)) });
    else if (!setPath(result, path.split('.'), document.toJS()))
      faults.push({ path, expected: 'a path into the config', got: JSON.stringify(override) });
  }
  if (faults.length > 0) throw new ConfigurationError('--set', faults);
  return result;
}
