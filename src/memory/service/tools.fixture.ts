import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { serveSteps } from '../engine/served-arm.fixture.ts';
import type { ToolSetting } from './tools.ts';

/** The time of {@link openTools}. */
export const NOON = Date.UTC(2026, 2, 1, 12);

/** The setting of tools over an empty memory that answers by bm25; its clock stands still. */
export async function openTools(folder: string | null = null): Promise<ToolSetting & { readonly memory: Memory }> {
  const memory = await openMemory({ folder, arm: serveSteps([{ search: { bm25: { k: 9 } } }]) });
  return { memory, clock: () => NOON, cacheFolder: null };
}
