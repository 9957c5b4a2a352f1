import { viewAsBytes } from '../../core/hash/hash.ts';
import type { StoredTokens } from '../../model/encoder.ts';
import { type BlockForm, type BlockRows, decodeKeys, HASH_BYTES } from './segments.ts';

const TOKEN_BYTES = Int32Array.BYTES_PER_ELEMENT + Float32Array.BYTES_PER_ELEMENT;

/** Tokens, and the hashes of the texts that they were computed from: their own, and those of the context. */
export interface CachedTokens extends StoredTokens {
  readonly texts: readonly string[];
}

/** The first row of each text and, as the last, the number of rows. */
function sumUp(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length + 1);
  for (const [row, count] of counts.entries()) starts[row + 1] = (starts[row] as number) + count;
  return starts;
}

/** The beginnings of the texts and the tokens of K rows; null where the file ends before these are known. */
function readOutline(count: number, read: (bytes: number) => Uint8Array) {
  const textsAt = 2 * count * Int32Array.BYTES_PER_ELEMENT;
  const outline = read(textsAt);
  if (outline.byteLength < textsAt) return null;
  const counts = new Int32Array(new Uint8Array(outline).buffer);
  const [texts, tokens] = [sumUp(counts.subarray(0, count)), sumUp(counts.subarray(count))];
  return { texts, tokens, textsAt, tokensAt: textsAt + (texts[count] as number) * HASH_BYTES };
}

type Outline = NonNullable<ReturnType<typeof readOutline>>;

function decodeTexts({ texts, textsAt, tokensAt }: Outline, values: Buffer): string[][] {
  const hashes = decodeKeys(values.subarray(textsAt, tokensAt));
  return Array.from(texts.subarray(1), (end, row) => hashes.slice(texts[row], end));
}

/**
 * The numbers of texts [K] and of tokens [K], the hashes of the texts, and then the ids, the scales and the values of
 * all tokens.
 */
export const TOKENS: BlockForm = {
  magic: 'RAGPPTO2',
  suffix: 'tokens',
  measure: ({ count, dimension }, read) => {
    const outline = readOutline(count, read);
    return outline && outline.tokensAt + (outline.tokens[count] as number) * (TOKEN_BYTES + dimension);
  },
  listTexts: ({ header }, read) => {
    const outline = readOutline(header.count, read) as Outline;
    return decodeTexts(outline, read(outline.tokensAt));
  },
  keep: ({ count, dimension }, values, rows) => encodeTokenBlock(decodeTokenBlock({ rows, count, values }, dimension)),
};

export function encodeTokenBlock(all: readonly CachedTokens[]): Uint8Array {
  const parts = [
    Int32Array.from(all, ({ texts }) => texts.length),
    Int32Array.from(all, ({ ids }) => ids.length),
    Buffer.from(all.flatMap(({ texts }) => texts).join(''), 'hex'),
    ...all.map(({ ids }) => ids),
    ...all.map(({ scales }) => scales),
    ...all.map(({ values }) => values),
  ];
  return Buffer.concat(parts.map(viewAsBytes));
}

/** The rows of a block that are wanted, as views of its values. */
export function decodeTokenBlock(
  { rows, count, values }: Pick<BlockRows, 'rows' | 'count' | 'values'>,
  dimension: number,
): CachedTokens[] {
  const bytes = Buffer.from(values.buffer);
  const outline = readOutline(count, (wanted) => bytes.subarray(0, wanted)) as Outline;
  const { tokens: starts, tokensAt } = outline;
  const texts = decodeTexts(outline, bytes);
  const total = starts[count] as number;
  const ids = new Int32Array(values.buffer, tokensAt, total);
  const scales = new Float32Array(values.buffer, tokensAt + ids.byteLength, total);
  const all = new Int8Array(values.buffer, tokensAt + total * TOKEN_BYTES);
  return rows.map((row) => {
    const [start, end] = [starts[row] as number, starts[row + 1] as number];
    return {
      texts: texts[row] as string[],
      ids: ids.subarray(start, end),
      scales: scales.subarray(start, end),
      values: all.subarray(start * dimension, end * dimension),
    };
  });
}
