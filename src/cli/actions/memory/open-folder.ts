import { StorageError, UnavailableError } from '../../../core/errors/errors.ts';
import { printError } from '../../../core/terminal/progress.ts';
import type { Memory } from '../../../memory/engine/memory.ts';
import { openMemory } from '../../../memory/engine/open-memory.ts';
import { findDimension, type MemorySettings } from './memory-folder.ts';

/** Opens the memory of a folder with its settings, its indexes up to date. @throws as `openMemory`. */
export async function openFolder(folder: string, settings: MemorySettings, readOnly = false): Promise<Memory> {
  const { encoder: _, ...options } = settings;
  return openMemory({ ...options, folder, readOnly, dimension: await findDimension(folder, settings) });
}

/**
 * Opens as {@link openFolder}; a folder that cannot be written, or that another process has, is only read, which is
 * printed.
 *
 * @throws as `openMemory`.
 */
async function openToAsk(folder: string, settings: MemorySettings): Promise<Memory> {
  try {
    return await openFolder(folder, settings);
  } catch (error) {
    if (!(error instanceof UnavailableError || error instanceof StorageError)) throw error;
    const memory = await openFolder(folder, settings, true);
    printError(`only read: ${error.message.split('; ')[0]}\n`); // the rest says how to write
    return memory;
  }
}

/** Prints what an opening found of lost changes, a line each. */
export function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) printError(`warning: ${warning}\n`);
}

/** Works with something that was opened, then closes it, also after an error. */
export async function runWithOpened<O extends { readonly warnings: readonly string[]; close(): Promise<void> }, T>(
  opened: O,
  work: (opened: O) => Promise<T>,
): Promise<T> {
  try {
    printWarnings(opened.warnings);
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Works with a memory, then closes it, also after an error. */
export async function runWithMemory<T>(
  folder: string,
  settings: MemorySettings,
  work: (memory: Memory) => Promise<T>,
): Promise<T> {
  return runWithOpened(await openFolder(folder, settings), work);
}

/** Works as {@link runWithMemory}, for work that changes nothing: the folder need not be writable, nor free. */
export async function runWithAskedMemory<T>(
  folder: string,
  settings: MemorySettings,
  work: (memory: Memory) => Promise<T>,
): Promise<T> {
  return runWithOpened(await openToAsk(folder, settings), work);
}
