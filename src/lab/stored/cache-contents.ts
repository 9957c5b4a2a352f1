import { type Dirent, existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { StorageError } from '../../core/errors/errors.ts';

/** A file of the cache folder. */
export interface CacheFile {
  readonly path: string;
  /** The stage that it is of, or what else it belongs to: see {@link OTHER_PARTS}. */
  readonly part: string;
  readonly bytes: number;
  /** Milliseconds since 1970: of a stage's file when it was last read or written, of others when it was written. */
  readonly usedAt: number;
}

/** The folders of a cache besides that of stages; other folders are not ours. */
const OTHER_FOLDERS: readonly string[] = ['embeddings', 'tokens', 'datasets'];

/** The parts of a cache besides stages; `unfinished` are files whose process ended while it wrote them. */
export const OTHER_PARTS: readonly string[] = [...OTHER_FOLDERS, 'unfinished'];

const DAY_MILLISECONDS = 86_400_000;

/** Files are written under another name first: theirs, a dot and a number. */
function classifyCacheFile(name: string): string | undefined {
  const [folder, stage, ...rest] = name.split(sep);
  const isOurs = folder === 'stages' ? rest.length === 1 : folder !== undefined && OTHER_FOLDERS.includes(folder);
  if (!isOurs) return undefined;
  if (/\.\d+$/.test(name)) return 'unfinished';
  return folder === 'stages' ? stage : folder;
}

/** The paths of all files in the folders of the cache `root`, relative to it. Omits links and their targets; folders may be deleted in the meantime. */
function listFilesBelow(root: string, folder = ''): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new StorageError('read folder', join(root, folder), { cause: error });
  }
  return entries.flatMap((entry) => {
    const name = join(folder, entry.name);
    if (folder === '' && name !== 'stages' && !OTHER_FOLDERS.includes(name)) return [];
    if (entry.isDirectory()) return listFilesBelow(root, name);
    return entry.isFile() ? [name] : [];
  });
}

/** Every file of the project in a cache folder; none if the folder is missing. */
export function cacheFiles(folder: string): CacheFile[] {
  if (!existsSync(folder)) return [];
  return listFilesBelow(folder).flatMap((name) => {
    const path = join(folder, name);
    const part = classifyCacheFile(name);
    const stats = part === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false }); // may be deleted by now
    return stats?.isFile() ? [{ path, part: part as string, bytes: stats.size, usedAt: stats.mtimeMs }] : [];
  });
}

/** The files of one part together. */
export interface CachePart {
  readonly part: string;
  readonly files: number;
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
}

/** Stages in alphabetical order, then what else there is. */
export function cacheParts(files: readonly CacheFile[]): CachePart[] {
  const parts = new Map<string, CachePart>();
  for (const { part, bytes, usedAt } of files) {
    const sum = parts.get(part) ?? { part, files: 0, bytes: 0, oldest: usedAt, newest: usedAt };
    const oldest = Math.min(sum.oldest, usedAt);
    const newest = Math.max(sum.newest, usedAt);
    parts.set(part, { part, files: sum.files + 1, bytes: sum.bytes + bytes, oldest, newest });
  }
  const rankPart = ({ part }: CachePart) => OTHER_PARTS.indexOf(part);
  return [...parts.values()].sort((a, b) => rankPart(a) - rankPart(b) || (a.part < b.part ? -1 : 1));
}

/** The files that may be deleted. */
export interface GarbageOptions {
  /** The parts to consider; all stages if empty. */
  readonly parts: readonly string[];
  /** Keeps files that were used within this number of days, unless the size limit removes them. */
  readonly olderThanDays?: number;
  /** The maximum size of the parts together; deletes the least recently used files first. */
  readonly maxBytes?: number;
}

/**
 * The files to delete, least recently used first: those that are too old, and then as many as the size asks for; all of the parts without either. Unfinished files go
 * once they are a day old, and never before, since a process may be writing them.
 */
export function selectGarbage(files: readonly CacheFile[], options: GarbageOptions, now: number): CacheFile[] {
  const { parts, olderThanDays, maxBytes } = options;
  const isOlder = ({ usedAt }: CacheFile, days: number) => now - usedAt > days * DAY_MILLISECONDS;
  const abandoned = files.filter((file) => file.part === 'unfinished' && isOlder(file, 1));
  const wanted = files.filter(({ part }) => (parts.length === 0 ? !OTHER_PARTS.includes(part) : parts.includes(part)));
  const finished = wanted.filter(({ part }) => part !== 'unfinished');
  const byUse = finished.sort((a, b) => a.usedAt - b.usedAt || (a.path < b.path ? -1 : 1));
  if (olderThanDays === undefined && maxBytes === undefined) return [...byUse, ...abandoned];
  let left = byUse.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen = byUse.filter((file) => {
    const isTooOld = olderThanDays !== undefined && isOlder(file, olderThanDays);
    const isTooMuch = maxBytes !== undefined && left > maxBytes;
    if (isTooOld || isTooMuch) left -= file.bytes;
    return isTooOld || isTooMuch;
  });
  return [...chosen, ...abandoned];
}

/** A file that another process deleted first is not an error. */
export function deleteFiles(files: readonly CacheFile[]): void {
  for (const { path } of files) {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw new StorageError('delete', path, { cause: error });
    }
  }
}

/** The size of a cache from which a run mentions it. */
const LARGE_CACHE_BYTES = 2 ** 30;

/** Advice on a large cache; null for a smaller one. */
export function cacheSizeRemark(folder: string): string | null {
  const bytes = cacheFiles(folder).reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= LARGE_CACHE_BYTES) return null;
  const size = (bytes / 2 ** 30).toFixed(1);
  return `the cache holds ${size} GiB; ragpp cache gc --older-than 30 deletes what was not used for 30 days: ${folder}`;
}
