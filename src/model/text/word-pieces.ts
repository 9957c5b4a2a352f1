import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';

/** The parts of `tokenizer.json` that are read: WordPiece after the normaliser of BERT. */
const tokenizerFile = z.looseObject({
  normalizer: z
    .looseObject({
      type: z.literal('BertNormalizer'),
      clean_text: z.boolean().default(true),
      handle_chinese_chars: z.boolean().default(true),
      /** Null: as `lowercase`. */
      strip_accents: z.boolean().nullable().default(null),
      lowercase: z.boolean().default(true),
    })
    .nullable(),
  pre_tokenizer: z.looseObject({ type: z.literal('BertPreTokenizer') }),
  model: z.looseObject({
    type: z.literal('WordPiece'),
    vocab: z.record(z.string(), z.int().min(0)),
    unk_token: z.string().default('[UNK]'),
    continuing_subword_prefix: z.string().default('##'),
    max_input_chars_per_word: z.int().min(1).default(100),
  }),
});

const CONTROL = /[\0\uFFFD]|(?![\t\n\r])\p{C}/gu;
const CHINESE =
  /[\u{4E00}-\u{9FFF}\u{3400}-\u{4DBF}\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{F900}-\u{FAFF}\u{2F800}-\u{2FA1F}]/gu;
/** ASCII characters that are no letters and digits, `$` among them, and what Unicode calls punctuation. */
const PUNCTUATION = /[!-/:-@[-`{-~]|\p{P}/gu;

/** Pieces of words of a vocabulary, as a model of the BERT family reads texts. */
export interface WordPieces {
  /** The pieces of a text, without special ones. */
  tokenise(text: string): number[];
  /** The id of a piece of the vocabulary. @throws ValidationError for a piece that it lacks. */
  getId(piece: string): number;
  /** [vocabulary] the pieces by their ids. */
  readonly pieces: readonly string[];
}

/**
 * The tokeniser that a `tokenizer.json` describes: words are divided into the longest pieces that the vocabulary has.
 * `[SEP]` within a text is text, not a special piece. Wu et al. 2016, "Google's neural machine translation system".
 *
 * @param content of `tokenizer.json`.
 * @param path of the file, in errors.
 * @throws ConfigurationError for another kind of tokeniser.
 */
export function createWordPieces(content: unknown, path: string): WordPieces {
  const { normalizer, model } = parse(tokenizerFile, content, path);
  const { vocab, unk_token: unknown, continuing_subword_prefix: prefix, max_input_chars_per_word: longest } = model;
  const ids = new Map(Object.entries(vocab));
  const pieces: string[] = [];
  for (const [piece, id] of ids) pieces[id] = piece;
  const getId = (piece: string): number => {
    const id = ids.get(piece);
    if (id === undefined)
      throw new ValidationError(`${path} has no piece ${piece}; use the files of one model`, { path, piece });
    return id;
  };
  const unknownId = getId(unknown);
  const normalise = (text: string): string => {
    if (normalizer === null) return text;
    const { clean_text: cleans, handle_chinese_chars: divides, lowercase, strip_accents: strips } = normalizer;
    let normal = cleans ? text.replace(CONTROL, '').replace(/\s/gu, ' ') : text;
    if (divides) normal = normal.replace(CHINESE, ' $& ');
    if (strips ?? lowercase) normal = normal.normalize('NFD').replace(/\p{Mn}/gu, '');
    // Letter by letter: a whole word in capitals would end in a final sigma, which no vocabulary was made with.
    return lowercase ? normal.replace(/\p{Lu}/gu, (letter) => letter.toLowerCase()) : normal;
  };
  const divideWord = (word: string): readonly number[] => {
    const letters = [...word];
    if (letters.length > longest) return [unknownId];
    const found: number[] = [];
    for (let start = 0, end = letters.length; start < letters.length; end = letters.length) {
      let id: number | undefined;
      for (; end > start && id === undefined; end--)
        id = ids.get(`${start > 0 ? prefix : ''}${letters.slice(start, end).join('')}`);
      if (id === undefined) return [unknownId];
      found.push(id);
      start = end + 1;
    }
    return found;
  };
  const tokenise = (text: string): number[] =>
    normalise(text)
      .replace(PUNCTUATION, ' $& ')
      .split(/\s+/u)
      .flatMap((word) => (word === '' ? [] : divideWord(word)));
  return { tokenise, getId, pieces };
}
