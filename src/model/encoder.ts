import type { StartProgress } from '../core/progress.ts';

/** Maps texts to unit vectors. */
export interface Encoder {
  readonly name: string;
  readonly dimension: number;
  /** Everything besides the texts that affects the output: name, version, parameters, the texts of the fit. The cache's key. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** @returns row-major [texts.length, dimension]; rows have length 1, or are all zero for a text without a known word. */
  encode(texts: readonly string[], progress?: StartProgress): Promise<Float32Array>;
  dispose(): void;
}
