import { createRandom } from '../../core/numbers/random.ts';
import type { TokenOptions, TokenVectors } from '../../model/encoder.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import type { EncoderSource } from './embedding-cache.ts';
import { TokenStore } from './token-cache.ts';
import type { TokenEncoder } from './token-encoder.ts';

const DIMENSION = 8;
const readWords = createTokeniser({ dropStopWords: false, stem: false });

const hashWord = (word: string) => [...word].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 65_521, 7);

/** A direction for each word. */
function drawWordVector(word: string): number[] {
  const source = createRandom(hashWord(word), 'word');
  return Array.from({ length: DIMENSION }, () => source.drawNormal());
}

/** Its tokens are words, a tenth of each vector is the mean of the words before the text. */
class WordTokenEncoder implements Pick<TokenEncoder, 'name' | 'dimension' | 'tokenDimension' | 'encodeTokens'> {
  readonly name = 'words';
  readonly dimension = DIMENSION;
  readonly tokenDimension = DIMENSION;
  /** Texts that it was given. */
  readonly seen: string[] = [];

  async encodeTokens(texts: readonly string[], { context }: TokenOptions = {}): Promise<TokenVectors[]> {
    this.seen.push(...texts);
    return texts.map((text, i) => {
      const before = (context?.[i] ?? []).flatMap(readWords).map(drawWordVector);
      const words = readWords(text);
      const vectors = words.flatMap((word) => {
        const row = drawWordVector(word).map(
          (value, d) =>
            value + before.reduce((sum, other) => sum + 0.1 * (other[d] as number), 0) / (before.length || 1),
        );
        return row.map((value) => value / Math.hypot(...row));
      });
      const ids = Int32Array.from(words, hashWord);
      return { ids, special: words.map(() => false), vectors: Float32Array.from(vectors) };
    });
  }

  dispose(): void {}
}

/** A source of token vectors that need no model, and the texts that were encoded. */
export function createWordTokens(): { readonly source: EncoderSource; readonly seen: readonly string[] } {
  const encoder = new WordTokenEncoder();
  const source = { name: 'words', identity: { encoder: 'words' }, create: async () => encoder as never };
  return { source, seen: encoder.seen };
}

/** Token vectors of words, kept in memory. */
export function openWordTokens(): Promise<TokenStore> {
  return TokenStore.open(createWordTokens().source, null);
}
