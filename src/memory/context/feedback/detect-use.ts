import { z } from 'zod';
import { parse } from '../../../core/validation/validation.ts';
import { once } from '../../../core/values/once.ts';
import { createTokeniser, listContentStems } from '../../../model/text/tokens.ts';

/** From which overlap a memory counts as used. The defaults were chosen on the dev half of generated responses, see experiments/memory-use. */
export const useDetectionOptions = z.strictObject({
  /** Words in a row that memory and response share, with a content word that neither the question nor another memory has. */
  span: z.int().min(2).default(6),
  /** The weight of the shared content words; a word that n of the memories have weighs 1 / n. */
  weight: z.number().positive().default(1.5),
  /** The same weight, divided by the number of content words that are new in the response: for short answers. */
  share: z.number().positive().max(1).default(0.25),
});
/** From which overlap a memory counts as used. */
export type UseDetectionOptions = z.input<typeof useDetectionOptions>;

/** What a model was asked, what it was shown, and what it said. */
export interface AnsweredQuestion {
  readonly question: string;
  readonly response: string;
  /** Each with the text that the model was shown. */
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}

/** The use of a memory by a response, and what speaks for it. */
export interface MemoryUse {
  readonly id: string;
  readonly used: boolean;
  /** Of the shared words, each divided by the number of memories that have it. */
  readonly weight: number;
  /** `weight` divided by the number of new content words of the response; 0 if it has none. */
  readonly share: number;
  /** Stems of content words that memory and response share and the question has not, in the order of the memory. */
  readonly words: readonly string[];
  /** The first such words in a row; null if there are none. */
  readonly span: string | null;
}

const splitIntoWords = once(() => createTokeniser({ dropStopWords: false, stem: false }));

/** Runs of `length` words. */
function listSpans(text: string, length: number): string[] {
  const words = splitIntoWords()(text);
  return Array.from({ length: Math.max(0, words.length - length + 1) }, (_, i) => words.slice(i, i + length).join(' '));
}

function countStems(lists: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const stems of lists) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return counts;
}

/** What of a memory is in the part of a response that no better memory explains. */
function compareWords(stems: readonly string[], left: ReadonlySet<string>, counts: ReadonlyMap<string, number>) {
  const words = stems.filter((stem) => left.has(stem));
  return { words, weight: words.reduce((sum, stem) => sum + 1 / (counts.get(stem) as number), 0) };
}

/**
 * Which memories a response uses, by what it has in common with each and not with the question: words in a row of which one is in no other memory, or content words
 * that few of the memories have. The memory with the greatest weight comes first, and the words of one that was used count for no other. A paraphrase without a
 * common word is not found, and a response that knew the same from elsewhere cannot be distinguished. O(M^2) word lists for M memories.
 *
 * @returns one entry a memory, in their order.
 * @throws ConfigurationError for options that cannot be.
 */
export function detectUse(
  { question, response, memories }: AnsweredQuestion,
  options: UseDetectionOptions = {},
): MemoryUse[] {
  const limits = parse(useDetectionOptions, options, 'the options of use detection');
  const asked = listContentStems(question);
  const listNew = (text: string) => [...listContentStems(text)].filter((stem) => !asked.has(stem));
  const answered = new Set(listNew(response));
  const stems = memories.map(({ text }) => listNew(text));
  const counts = countStems(stems);
  const spans = new Set(listSpans(response, limits.span));
  const isOwn = (span: string) => listNew(span).some((stem) => counts.get(stem) === 1);
  const left = new Set(answered);
  const found = new Map<number, MemoryUse>();
  while (found.size < memories.length) {
    const compared = memories.flatMap((_, i) =>
      found.has(i) ? [] : [{ i, ...compareWords(stems[i] as string[], left, counts) }],
    );
    const { i, words, weight } = compared.reduce((best, one) => (one.weight > best.weight ? one : best));
    const { id, text } = memories[i] as AnsweredQuestion['memories'][number];
    const span = listSpans(text, limits.span).find((run) => spans.has(run) && isOwn(run)) ?? null;
    const share = answered.size === 0 ? 0 : weight / answered.size;
    const used = span !== null || weight >= limits.weight || share >= limits.share;
    found.set(i, { id, used, weight, share, words, span });
    if (used) for (const word of words) left.delete(word);
  }
  return memories.map((_, i) => found.get(i) as MemoryUse);
}
