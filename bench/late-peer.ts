import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LateWorld, readStoredTokens } from './late-workload.ts';
import { PeerProcess } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';

/** One scoring by torch. */
export interface TorchLate {
  /** Time of all questions. */
  readonly milliseconds: number;
  readonly threads: number;
  /** Number of turns of a product of torch: the fastest of some. */
  readonly way: string;
  readonly version: string;
}

/** torch with the tokens of a world, which it keeps as 8 bits too. */
export class LatePeer {
  readonly #folder: string;
  readonly #process: PeerProcess;

  private constructor(folder: string, process: PeerProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  static async open(python: FoundPython, world: LateWorld): Promise<LatePeer> {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-late-'));
    for (const kind of ['turn', 'query'] as const)
      for (const [part, data] of Object.entries(await readStoredTokens(world, kind)))
        writeFileSync(join(folder, `${kind === 'turn' ? 'turns' : 'questions'}-${part}.bin`), data);
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(world.sizes));
    return new LatePeer(folder, new PeerProcess(python, 'late.py', folder));
  }

  /** @param threads null: as many as torch takes by itself. */
  score(threads: number | null): Promise<TorchLate> {
    return this.#process.ask({ threads });
  }

  /** Scores of the last call, row-major [questions, N]. */
  readScores(): Float32Array {
    return new Float32Array(Uint8Array.from(readFileSync(join(this.#folder, 'scores.f32'))).buffer);
  }

  dispose(): void {
    this.#process.dispose();
    rmSync(this.#folder, { recursive: true });
  }
}
