import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPTIONS, type Workload } from './attention-workload.ts';
import { type FoundPython, runPeer } from './peers/python.ts';

interface PeerMeasurement {
  readonly turns: number;
  readonly seconds: number;
  /** Row-major [S, D], the outputs of the sampled rows. */
  readonly rows: Float32Array;
}

export interface PeerReport {
  /** The file of the library that multiplies its matrices. */
  readonly blas: string;
  readonly threads: number;
  readonly measurements: readonly PeerMeasurement[];
}

/**
 * The results of dense torch on the same conversation.
 *
 * @param sizes turns to measure, with the places of their sampled rows
 */
export function runTorch(
  python: FoundPython,
  { embeddings, settings: { dimension, repeats } }: Workload,
  sizes: readonly { readonly turns: number; readonly samples: readonly number[] }[],
): PeerReport {
  const { decay, temperature } = OPTIONS;
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-attention-'));
  try {
    const most = Math.max(...sizes.map(({ turns }) => turns));
    writeFileSync(join(folder, 'embeddings.f32'), embeddings.subarray(0, most * dimension));
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ dimension, repeats, sizes, decay, temperature }));
    const report = runPeer<Omit<PeerReport, 'measurements'> & { seconds: number[] }>(
      python,
      'dense_ring_attention.py',
      folder,
    );
    const measurements = sizes.map(({ turns }, i) => {
      const bytes = readFileSync(join(folder, `rows-${turns}.f32`));
      return { turns, seconds: report.seconds[i]!, rows: new Float32Array(Uint8Array.from(bytes).buffer) };
    });
    return { blas: report.blas, threads: report.threads, measurements };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
