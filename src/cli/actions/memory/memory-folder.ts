import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../../core/errors/errors.ts';
import { makeFolder, readFolder, readText, writeAtomic } from '../../../core/files/files.ts';
import { parse } from '../../../core/validation/validation.ts';
import { parseJson } from '../../../data/jsonl/jsonl-rows.ts';
import { encoderOptions } from '../../../index/encoders/registry.ts';
import type { PgvectorOptions } from '../../../index/vectors/vector-kind.ts';
import { applyOverrides } from '../../../lab/composition/config-file.ts';
import { memoryOptions } from '../../../memory/engine/memory-options.ts';
import { openStore } from '../../../memory/store/open-store.ts';

/** The file beside the records with the options of their memory, so that no later command needs options. */
const FILE = 'memory.json';

/** The options of a memory in its folder: those of `openMemory`, and the encoder of its texts. */
const settingsSchema = memoryOptions
  .omit({ folder: true, readOnly: true, dimension: true, clock: true })
  .extend({ dimension: z.int().min(1).optional(), encoder: encoderOptions.nullable().default(null) });

/** The settings, with every default written out. */
export type MemorySettings = z.output<typeof settingsSchema>;
/** The settings as they are in the file: without defaults. */
export type WrittenSettings = Readonly<Record<string, unknown>>;

/** The settings of a folder and their text. */
export interface MemoryFolder {
  readonly written: WrittenSettings;
  readonly settings: MemorySettings;
  /** True if the folder has a memory already. */
  readonly exists: boolean;
}

function holdsStore(folder: string): boolean {
  const isPart = (name: string) => name === FILE || name.endsWith('.journal') || name.startsWith('snapshot-');
  return existsSync(folder) && readFolder(folder).some(isPart);
}

function readWritten(folder: string): WrittenSettings {
  const path = join(folder, FILE);
  if (!existsSync(path)) return {};
  const written = parseJson(readText(path));
  if (written !== null && typeof written === 'object' && !Array.isArray(written)) return written as WrittenSettings;
  throw new ValidationError(`settings of a memory are no JSON object: ${path}; correct the file`, { path });
}

/** @throws ConfigurationError for options that do not exist. */
function readSettings(folder: string, overrides: readonly string[], exists: boolean): MemoryFolder {
  const written = applyOverrides({ ...readWritten(folder) }, overrides);
  const source = overrides.length === 0 ? join(folder, FILE) : `the settings of ${folder}`;
  return { written, settings: parse(settingsSchema, written, source), exists };
}

/**
 * The settings of a folder that records are written to; the folder may be missing or empty.
 *
 * @param overrides `path=value`, over what the file has.
 * @throws ValidationError for a folder with files of something else.
 */
export function readFolderToWrite(folder: string, overrides: readonly string[]): MemoryFolder {
  const exists = holdsStore(folder);
  const isTaken = existsSync(folder) && readFolder(folder).some((name) => name !== 'lock');
  if (!exists && isTaken)
    throw new ValidationError(`folder has files that are not of a memory: ${folder}; name a new or empty folder`, {
      folder,
    });
  return readSettings(folder, overrides, exists);
}

/** The settings of a folder that has a memory. @throws ValidationError for any other folder. */
export function readMemoryFolder(folder: string): MemoryFolder {
  assertMemory(folder);
  return readSettings(folder, [], true);
}

/** The tables of a folder with a memory; none of any other folder. @throws ConfigurationError for wrong settings. */
export function listTables(folder: string): PgvectorOptions[] {
  const indexes = holdsStore(folder) ? Object.values(readSettings(folder, [], true).settings.indexes) : [];
  return indexes.filter((index) => index.index === 'pgvector');
}

/** @throws ValidationError for a folder without a memory. */
export function assertMemory(folder: string): void {
  if (holdsStore(folder)) return;
  throw new ValidationError(
    `folder has no memory: ${folder}; name another folder, or make one with 'ragpp memory import ${folder} FILE'`,
    { folder },
  );
}

/** Writes the settings of a memory, and its folder. @throws StorageError. */
export function writeSettings(folder: string, written: WrittenSettings): void {
  makeFolder(folder);
  writeAtomic(join(folder, FILE), `${JSON.stringify(written, null, 2)}\n`);
}

/** Copies the settings of a folder; does nothing without a file of settings. */
export function copySettings(folder: string, into: string): void {
  if (existsSync(join(folder, FILE))) writeAtomic(join(into, FILE), readText(join(folder, FILE)));
}

/** D of a memory: of its settings, else of its records. @throws ValidationError for a memory with neither. */
export async function findDimension(folder: string, { dimension }: MemorySettings): Promise<number> {
  if (dimension !== undefined) return dimension;
  const store = await openStore(folder, { readOnly: true });
  await store.close();
  if (store.dimension !== null) return store.dimension;
  throw new ValidationError(`memory has no records and no dimension: ${folder}; import records first`, { folder });
}
