import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPTIONS, type Workload } from './attention-workload.ts';
import { PeerProcess } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';

/** The fastest of some runs of torch. */
export interface TorchBand {
  /** Processor time. */
  readonly seconds: number;
  /** Queries that are multiplied with all keys of their bands at once: the fastest of some. */
  readonly block: number;
  readonly version: string;
}

/** Banded ring attention by torch on one thread, over the first turns of the same conversation. */
export class BandedTorch {
  readonly #folder: string;
  readonly #process: PeerProcess;

  constructor(python: FoundPython, { embeddings, settings: { dimension } }: Workload) {
    const { decay, temperature } = OPTIONS;
    this.#folder = mkdtempSync(join(tmpdir(), 'ragpp-attention-'));
    writeFileSync(join(this.#folder, 'embeddings.f32'), embeddings);
    writeFileSync(join(this.#folder, 'settings.json'), JSON.stringify({ dimension, decay, temperature }));
    this.#process = new PeerProcess(python, 'banded_ring_attention.py', this.#folder);
  }

  /** @param leastSeconds repeats until so much processor time has passed */
  time(turns: number, width: number, leastSeconds: number): Promise<TorchBand> {
    return this.#process.ask({ turns, width, least_seconds: leastSeconds, write: false });
  }

  /** @returns row-major [T, D] */
  async computeOutput(turns: number, width: number): Promise<Float32Array> {
    await this.#process.ask({ turns, width, least_seconds: 0, write: true });
    return new Float32Array(Uint8Array.from(readFileSync(join(this.#folder, 'output.f32'))).buffer);
  }

  /** @returns GFLOP/s of a product of [1024, 512] and [512, 1024] */
  async measureProductRate(): Promise<number> {
    const { gflops } = await this.#process.ask<{ readonly gflops: number }>({ rate: true });
    return gflops;
  }

  dispose(): void {
    this.#process.dispose();
    rmSync(this.#folder, { recursive: true });
  }
}
