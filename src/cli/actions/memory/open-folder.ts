import { StorageError, UnavailableError } from '../../../core/errors/errors.ts';
import { printError } from '../../../core/terminal/progress.ts';
import { parse } from '../../../core/validation/validation.ts';
import { time } from '../../../data/jsonl/jsonl-rows.ts';
import type { Memory } from '../../../memory/engine/memory.ts';
import { openMemory } from '../../../memory/engine/open-memory.ts';
import type { ServedArm } from '../../../memory/engine/served-arm.ts';
import { findDimension, type MemorySettings } from './memory-folder.ts';

/** Options of opening a folder. */
interface Opening {
  readonly readOnly?: boolean;
  /** By which the memory answers; null: by its indexes. */
  readonly arm?: ServedArm | null;
}

/**
 * Opens the memory of a folder with its settings, its indexes up to date. A change that breaks a law of conservation
 * and is made is printed.
 *
 * @throws as `openMemory`.
 */
export async function openFolder(
  folder: string,
  settings: MemorySettings,
  { readOnly = false, arm = null }: Opening = {},
): Promise<Memory> {
  const { encoder: _, dimension: __, ...options } = settings;
  const kind = arm === null ? { dimension: await findDimension(folder, settings) } : { arm };
  const memory = await openMemory({ ...options, folder, readOnly, ...kind });
  memory.conservation.watch(({ sequence, message }) => {
    if (sequence !== null) printWarnings([`change ${sequence}: ${message}`]);
  });
  return memory;
}

/**
 * Opens as {@link openFolder}; a folder that cannot be written, or that another process has, is only read, which is
 * printed.
 *
 * @throws as `openMemory`.
 */
async function openToAsk(folder: string, settings: MemorySettings, arm: ServedArm | null): Promise<Memory> {
  try {
    return await openFolder(folder, settings, { arm });
  } catch (error) {
    if (!(error instanceof UnavailableError || error instanceof StorageError)) throw error;
    const memory = await openFolder(folder, settings, { readOnly: true, arm });
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
  arm: ServedArm | null = null,
): Promise<T> {
  return runWithOpened(await openToAsk(folder, settings, arm), work);
}

/**
 * Works with a memory as it was at a moment; without one, as it is.
 *
 * @param at the number of a change, or a time.
 * @throws as `Memory.at`.
 */
export async function runAtMoment<T>(
  memory: Memory,
  at: string | undefined,
  work: (memory: Memory) => Promise<T>,
): Promise<T> {
  if (at === undefined) return work(memory);
  const moment = /^\d+$/.test(at) ? { sequence: Number(at) } : { known: parse(time, at, '--at') };
  return runWithOpened(await memory.at(moment), work);
}
