import type { TermPostings } from '../../../index/words/term-postings.ts';

/** Turns that are taken to be relevant, and terms that are taken from them. */
const FEEDBACK_TURNS = 5;
const FEEDBACK_TERMS = 12;

/** The turns with the highest scores above 0, best first; of equal ones the earlier. */
function rankFeedbackTurns(scores: Float64Array): number[] {
  const best: number[] = [];
  for (let position = 0; position < scores.length; position++) {
    const score = scores[position] as number;
    if (score <= 0 || (best.length === FEEDBACK_TURNS && score <= (scores[best.at(-1) as number] as number))) continue;
    const insertionPoint = best.findIndex((other) => score > (scores[other] as number));
    best.splice(insertionPoint === -1 ? best.length : insertionPoint, 0, position);
    best.length = Math.min(best.length, FEEDBACK_TURNS);
  }
  return best;
}

/**
 * Pseudo-relevance feedback: the terms that the best turns have in common and others lack, by score x rarity / length (a relevance model, Lavrenko and Croft
 * 2001, with each term counted once a turn).
 *
 * @param scores [cutoff] of a first search
 * @param postings of the turns
 * @param rarity of a term, from the number of turns before the cutoff that contain it
 * @returns terms that count once each
 */
export function chooseFeedbackTerms(
  scores: Float64Array,
  postings: TermPostings,
  rarity: (count: number, frequency: number) => number,
): ReadonlyMap<string, number> {
  const cutoff = scores.length;
  const weights = new Map<string, number>();
  for (const position of rankFeedbackTurns(scores)) {
    const share = (scores[position] as number) / Math.max(1, postings.lengths[position] as number);
    for (const word of postings.listTurnTerms(position))
      weights.set(word, (weights.get(word) ?? 0) + share * rarity(cutoff, postings.countTurnsWith(word, cutoff)));
  }
  const strongest = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, FEEDBACK_TERMS);
  return new Map(strongest.map(([word]) => [word, 1]));
}
