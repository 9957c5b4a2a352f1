import { readdirSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import type { z } from 'zod';
import { isZip, openZip, refuseLargeFile } from '../../core/decoding/zip-archive.ts';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { readBytes } from '../../core/files/files.ts';
import { check } from '../../core/validation/validation.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { describeDepthFault } from '../jsonl/jsonl-rows.ts';

/**
 * The JSON of a file of an export, by its schema.
 *
 * @param expected the file that the loader reads, for the error.
 * @throws ValidationError that names the file and the first fault; StorageError if the file cannot be read.
 */
export async function readJson<S extends z.ZodType>(
  file: ExportFile,
  schema: S,
  expected: string,
): Promise<z.output<S>> {
  const { where } = file;
  const text = await file.readText();
  const tooDeep = describeDepthFault(text);
  if (tooDeep !== null) throw new ValidationError(`${where}: ${tooDeep}; name ${expected}`, { where });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const start = text.trim() === '' ? 'an empty file' : text.slice(0, 80);
    throw new ValidationError(`${where}: not JSON: ${start}; name ${expected}`, { where }, { cause: error });
  }
  const result = check(schema, value);
  if ('value' in result) return result.value;
  const [first] = result.faults;
  throw new ValidationError(
    `${where}: ${first?.path}: expected ${first?.expected}, got ${first?.got}; name ${expected}`,
    {
      where,
      faults: result.faults,
    },
  );
}

/** A file of an export. */
export interface ExportFile {
  /** Its path inside the export, with slashes. */
  readonly name: string;
  /** The whole path, for messages. */
  readonly where: string;
  /** Its text; bytes that are not UTF-8 are U+FFFD. @throws StorageError that names the file. */
  readonly readText: () => Promise<string>;
}

/** Files of one name or pattern, which an export has one or a few of. */
const MOST_FILES = 1000;

/** The files of an export, and what distinguishes a single file that a user names from an archive or a folder. */
export interface ExportFiles {
  readonly path: string;
  /** By name. */
  readonly files: readonly ExportFile[];
  /** True if the path leads to one file that is no archive: the user chose it, whatever it is called. */
  readonly single: boolean;
}

/**
 * Reads an export where it is: a zip file, an unpacked folder, or one of its files. Only the texts that `work` reads are unpacked.
 *
 * @throws StorageError if the path cannot be read; what `work` throws.
 */
export async function readExport<T>(path: string, work: (files: ExportFiles) => Promise<T>): Promise<T> {
  const stats = runNaming(path, () => statSync(path));
  if (stats.isDirectory()) return work({ path, files: listFolder(path), single: false });
  if (!path.toLowerCase().endsWith('.zip') && !runNaming(path, () => isZip(path)))
    return work({ path, files: [listFile(path, basename(path))], single: true });
  const archive = await openZip(path);
  try {
    const files = archive.names.map((entry) => ({
      name: entry.replaceAll('\\', '/'),
      where: `${path}/${entry}`,
      readText: async () => decode(await archive.read(entry)),
    }));
    return await work({ path, files: sortByName(files), single: false });
  } finally {
    await archive.close();
  }
}

/**
 * The files whose names match, those nearest to the top of the export: an archive may hold its files in a folder of its own.
 *
 * @param pattern of the last part of a name.
 * @param expected the file to name, for the error.
 * @throws ValidationError if no name matches.
 */
export function findExportFiles(
  { path, files, single }: ExportFiles,
  pattern: RegExp,
  expected: string,
): readonly ExportFile[] {
  if (single) return files;
  const found = files.filter(({ name }) => pattern.test(basename(name)));
  const top = found.reduce((least, { name }) => Math.min(least, countFolders(name)), Number.POSITIVE_INFINITY);
  if (found.length > MOST_FILES)
    throw new ValidationError(
      `${path} has ${found.length} files as ${expected}, at most ${MOST_FILES} are read; name the zip file or the folder of one export`,
      { path },
    );
  if (found.length === 0)
    throw new ValidationError(`no ${expected} in: ${path}; name the zip file or the folder of an export`, {
      path,
    });
  return found.filter(({ name }) => countFolders(name) === top);
}

function countFolders(name: string): number {
  return name.split('/').length;
}

function listFolder(path: string): ExportFile[] {
  const names = runNaming(path, () => readdirSync(path, { recursive: true, encoding: 'utf8' }));
  return sortByName(names.map((name) => listFile(join(path, name), name.split(sep).join('/'))));
}

function listFile(where: string, name: string): ExportFile {
  const readText = async () => {
    refuseLargeFile(runNaming(where, () => statSync(where)).size, where);
    return decode(readBytes(where));
  };
  return { name, where, readText };
}

function sortByName(files: readonly ExportFile[]): ExportFile[] {
  return [...files].sort((a, b) => compareBytes(a.name, b.name));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function runNaming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}
