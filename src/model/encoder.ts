import type { StartProgress } from '../core/progress.ts';

/** Maps texts to unit vectors. */
export interface Encoder {
  readonly name: string;
  readonly dimension: number;
  /** Everything that its output depends on besides the texts: name, version, parameters, what it was fitted on. The cache's key. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** @returns row-major [texts.length, dimension]; rows have length 1, or are all zero for a text without a known word. */
  encode(texts: readonly string[], progress?: StartProgress): Promise<Float32Array>;
  dispose(): void;
}
