// An encoder: counts of the 26 letters, as unit vectors.
import { definePlugin } from 'rag-plusplus';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function encodeText(text: string): number[] {
  const counts = [...LETTERS].map((letter) => text.toLowerCase().split(letter).length - 1);
  const length = Math.hypot(...counts);
  return length === 0 ? counts : counts.map((count) => count / length);
}

export default definePlugin({
  name: 'letter-encoder',
  version: 1,
  encoders: [
    {
      name: 'letters',
      description: 'counts of letters',
      create: () => ({
        dimension: LETTERS.length,
        encode: (texts) => Float32Array.from(texts.flatMap(encodeText)),
      }),
    },
  ],
});
