import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConservationWorkload, Figures } from './conservation-workload.ts';
import { type FoundPython, runPeer } from './peers/python.ts';

interface PeerFigures {
  readonly seconds: number;
  readonly figures: Figures;
}

/** @param sizes.pairwise where energy is summed over all pairs, `sizes.mean` where it is the mean direction's */
export function runNumpy(
  python: FoundPython,
  { embeddings, salience, dimension }: ConservationWorkload,
  sizes: { readonly pairwise: readonly number[]; readonly mean: readonly number[] },
  repeats: number,
): Readonly<Record<'pairwise' | 'mean', readonly PeerFigures[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-conservation-'));
  try {
    const most = Math.max(...sizes.pairwise, ...sizes.mean);
    writeFileSync(join(folder, 'embeddings.f32'), embeddings.subarray(0, most * dimension));
    writeFileSync(join(folder, 'salience.f64'), salience.subarray(0, most));
    const settings = { dimension, repeats, pairwise: sizes.pairwise, sizes: sizes.mean };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    return runPeer(python, 'conservation.py', folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
