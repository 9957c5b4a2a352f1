import { createRandom } from '../../core/numbers/random.ts';
import { parseSteps, type WrittenStep } from '../../rank/retrieval/written-steps.ts';
import type { ServedArm } from './served-arm.ts';

/** D of {@link embedWords}. */
export const WORD_DIMENSION = 16;

/** The sum of a drawn direction for each word, of length 1. */
export function embedWords(text: string): Float32Array {
  const sum = new Float32Array(WORD_DIMENSION);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const source = createRandom(3, `word ${word}`);
    for (let i = 0; i < WORD_DIMENSION; i++) sum[i]! += source.drawNormal();
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((value) => value / length);
}

/** An arm of steps, by {@link embedWords}. */
export function serveSteps(steps: readonly WrittenStep[], own: Partial<ServedArm> = {}): ServedArm {
  return {
    ...{ name: 'served', options: parseSteps(steps), seed: 5, depth: 50, dimension: WORD_DIMENSION },
    comparesVectors: true,
    embed: async (texts) => {
      const vectors = new Float32Array(texts.length * WORD_DIMENSION);
      for (const [row, text] of texts.entries()) vectors.set(embedWords(text), row * WORD_DIMENSION);
      return { dimension: WORD_DIMENSION, vectors };
    },
    openTokens: () => Promise.reject(new Error('no arm of these tests reads tokens')),
    dispose: async () => {},
    ...own,
  };
}
