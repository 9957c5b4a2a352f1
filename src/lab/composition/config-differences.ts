import { computeHash } from '../../core/hash/hash.ts';
import { isPlain, type Plain } from './config-file.ts';

/** A value that two configs do not share; undefined if one lacks it. */
export interface ConfigDifference {
  /** `arms[cosine].search.hnsw.k` */
  readonly path: string;
  readonly first: unknown;
  readonly second: unknown;
}

/** Leaves by path. Entries of a list are identified by name if they have one, else by index. */
function flattenLeaves(value: unknown, path: string): [string, unknown][] {
  const below = isPlain(value)
    ? Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
    : Array.isArray(value)
      ? value.map(
          (item, at) => [`${path}[${isPlain(item) && typeof item.name === 'string' ? item.name : at}]`, item] as const,
        )
      : [];
  return below.length === 0 ? [[path, value]] : below.flatMap(([key, item]) => flattenLeaves(item, key));
}

/** Every leaf that differs, in the order of the first config, then those of the second alone. */
export function listConfigDifferences(first: Plain, second: Plain): ConfigDifference[] {
  const [before, after] = [new Map(flattenLeaves(first, '')), new Map(flattenLeaves(second, ''))];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(
      (path) =>
        computeHash([before.get(path)]) !== computeHash([after.get(path)]) || before.has(path) !== after.has(path),
    )
    .map((path) => ({ path, first: before.get(path), second: after.get(path) }));
}
