import type { Memory } from '../../../memory/engine/memory.ts';
import { openMemory } from '../../../memory/engine/open-memory.ts';
import { findDimension, type MemorySettings } from './memory-folder.ts';

/** Opens the memory of a folder with its settings, its indexes up to date. @throws as `openMemory`. */
export async function openFolder(folder: string, settings: MemorySettings): Promise<Memory> {
  const { encoder: _, ...options } = settings;
  return openMemory({ ...options, folder, dimension: await findDimension(folder, settings) });
}

/** Works with a memory, then closes it, also after an error. */
export async function runWithMemory<T>(
  folder: string,
  settings: MemorySettings,
  work: (memory: Memory) => Promise<T>,
): Promise<T> {
  const memory = await openFolder(folder, settings);
  try {
    return await work(memory);
  } finally {
    await memory.close();
  }
}
