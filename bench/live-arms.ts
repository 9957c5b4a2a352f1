import { createRandom } from '../src/core/numbers/random.ts';
import type { ServedArm } from '../src/memory/engine/served-arm.ts';
import { parseSteps, type WrittenStep } from '../src/rank/retrieval/written-steps.ts';
import { listSignalNames, signalBankOptions } from '../src/rank/signals/bank/options.ts';

/** Candidates of the arms that measure what is done with these. */
const words = { search: { bm25: { k: 50 } } } as const;
/** The usual groups of a learned mix. */
const bank = {};

function drawWeights(): Readonly<Record<string, number>> {
  const source = createRandom(7, 'live weights');
  return Object.fromEntries(listSignalNames(signalBankOptions.parse(bank)).map((name) => [name, source.drawNormal()]));
}

/** An arm for each way of ranking whose parts follow a memory differently. */
export const LIVE_ARMS: Readonly<Record<string, () => readonly WrittenStep[]>> = {
  bm25: () => [words],
  // Fewer edges than by default, so that a million turns enter the graph within minutes.
  hnsw: () => [{ search: { hnsw: { k: 50, m: 8, efConstruction: 40 } } }],
  trajectory: () => [words, { blend: { trajectory: {} } }],
  attention: () => [words, { blend: { ircp: { mode: 'directed' }, rcp: { mode: 'directed' } } }],
  structure: () => [words, { blend: { trajectory: {}, ircp: { mode: 'directed' }, rcp: { mode: 'directed' } } }],
  graph: () => [{ search: { bm25: { k: 50 }, graph: { k: 50, concepts: 'phrases' } } }, { fuse: { rrf: {} } }],
  similar: () => [{ search: { bm25: { k: 50 }, graph: { k: 50, edges: { similar: 1 } } } }, { fuse: { rrf: {} } }],
  mix: () => [words, { mix: { signals: bank, weights: drawWeights() } }],
};

/** The direction of each word, drawn once. */
class WordVectors {
  readonly dimension: number;
  readonly #directions = new Map<string, Float32Array>();

  constructor(dimension: number) {
    this.dimension = dimension;
  }

  #direct(word: string): Float32Array {
    const known = this.#directions.get(word);
    if (known !== undefined) return known;
    const source = createRandom(3, `word ${word}`);
    const direction = Float32Array.from({ length: this.dimension }, () => source.drawNormal());
    this.#directions.set(word, direction);
    return direction;
  }

  /** The sum of the directions of the words of each text, of length 1. @returns row-major [texts, D] */
  embed(texts: readonly string[]): Float32Array {
    const vectors = new Float32Array(texts.length * this.dimension);
    for (const [row, text] of texts.entries()) {
      const vector = vectors.subarray(row * this.dimension, (row + 1) * this.dimension);
      for (const word of text.split(/\W+/)) {
        const direction = this.#direct(word);
        for (let d = 0; d < vector.length; d++) vector[d]! += direction[d]!;
      }
      const length = Math.hypot(...vector);
      for (let d = 0; d < vector.length; d++) vector[d]! /= length;
    }
    return vectors;
  }
}

/**
 * One of {@link LIVE_ARMS}, with vectors that are sums of drawn directions of words: what an encoder costs is not
 * measured.
 */
export function serveLiveArm(name: string, dimension: number): ServedArm {
  const words = new WordVectors(dimension);
  return {
    ...{
      name,
      options: parseSteps((LIVE_ARMS[name] as () => readonly WrittenStep[])()),
      seed: 7,
      depth: 10,
      dimension,
    },
    comparesVectors: true,
    embed: async (texts) => ({ dimension, vectors: words.embed(texts) }),
    openTokens: () => Promise.reject(new Error('no arm of this bench reads tokens')),
    dispose: async () => {},
  };
}
