import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LATE_VIEWS } from '../src/index/late/late-options.ts';
import { drawLateWorld, type LateSizes, scoreWorld } from './late-workload.ts';
import { readPeakMemoryBytes, resetPeakMemory } from './peak-memory.ts';

/** Disk and memory of both views of some turns. */
export interface StoredMeasurement {
  readonly bytes: number;
  /** Bytes in memory at most while all tokens are written, and while a question is compared with all turns of a view. */
  readonly peaks: { readonly writing: number; readonly asking: number };
  /** Seconds of a question over all turns of a view, the slower. */
  readonly seconds: number;
}

/** Counts the bytes of the files below a folder. */
function countBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Writes the tokens of both views to a folder of its own, and asks one question by a store that is opened again. */
export async function measureStored(sizes: LateSizes): Promise<StoredMeasurement> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-late-'));
  const [peaks, seconds]: [{ writing: number; asking: number }, number[]] = [{ writing: 0, asking: 0 }, []];
  try {
    for (const phase of ['writing', 'asking'] as const)
      for (const view of LATE_VIEWS) {
        resetPeakMemory();
        const world = await drawLateWorld({ ...sizes, questions: 1 }, folder, view);
        const started = performance.now();
        await scoreWorld(world);
        if (phase === 'asking') seconds.push((performance.now() - started) / 1e3);
        world.store.dispose();
        peaks[phase] = Math.max(peaks[phase], readPeakMemoryBytes());
      }
    return { bytes: countBytes(folder), peaks, seconds: Math.max(...seconds) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
