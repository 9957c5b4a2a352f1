import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BertArrays, BertSizes } from '../src/ops/bert/bert.ts';
import { PeerProcess } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';

/** torch with the weights of a BERT. */
export class BertPeer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ragpp-bert-'));
  readonly #process: PeerProcess;

  constructor(python: FoundPython, arrays: BertArrays, sizes: BertSizes) {
    const entries = Object.entries(arrays);
    for (const [i, [, { data }]] of entries.entries())
      writeFileSync(join(this.#folder, `${i}.f32`), Float32Array.from(data));
    const shapes = entries.map(([name, { shape }]) => [name, shape]);
    writeFileSync(join(this.#folder, 'settings.json'), JSON.stringify({ sizes, shapes }));
    this.#process = new PeerProcess(python, 'bert.py', this.#folder);
  }

  /**
   * @param threads null: as many as torch takes by itself.
   * @returns the vectors of the pieces, [ids, D].
   */
  async run(ids: Int32Array, length: number, threads: number | null) {
    const { milliseconds } = await this.#process.ask<{ milliseconds: number }>({ ids: [...ids], length, threads });
    const bytes = Uint8Array.from(readFileSync(join(this.#folder, 'vectors.f32')));
    return { milliseconds, vectors: new Float32Array(bytes.buffer) };
  }

  dispose(): void {
    this.#process.dispose();
    rmSync(this.#folder, { recursive: true });
  }
}
