import type { Turn } from '../../model/turn.ts';

/**
 * The scores by words, written out over the texts of the turns before a moment. For texts of words without endings and stop words, which {@link STOP_WORDS}
 * lists.
 */

const STOP_WORDS = ['in', 'with', 'when', 'who', 'how', 'many'];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => !STOP_WORDS.includes(word));
const pairsOf = (text: string) => {
  const words = wordsOf(text);
  return words.slice(1).map((word, i) => `${words[i]} ${word}`);
};
const gramsOf = (text: string) =>
  wordsOf(text).flatMap((word) => {
    const marked = `_${word}_`;
    return marked.length <= 4 ? [marked] : [...marked.slice(3)].map((_, start) => marked.slice(start, start + 4));
  });

const idf = (count: number, frequency: number) => Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));

/** BM25 with k1 = 1.2 and b = 0.75 of each document, given by its terms. */
function bm25(documents: readonly (readonly string[])[], query: readonly string[]): number[] {
  const average = sum(documents.map(({ length }) => length)) / documents.length;
  return documents.map((document) =>
    sum(
      query.map((term) => {
        const frequency = documents.filter((other) => other.includes(term)).length;
        const count = document.filter((other) => other === term).length;
        if (count === 0) return 0;
        return (idf(documents.length, frequency) * count) / (count + 1.2 * (0.25 + (0.75 * document.length) / average));
      }),
    ),
  );
}

function coverage(documents: readonly (readonly string[])[], query: readonly string[]): number[] {
  const terms = [...new Set(query)];
  const worth = terms.map((term) => {
    const frequency = documents.filter((document) => document.includes(term)).length;
    return frequency === 0 ? 0 : idf(documents.length, frequency);
  });
  const known = sum(worth);
  return documents.map((document) =>
    known === 0 ? 0 : sum(terms.map((term, i) => (document.includes(term) ? (worth[i] as number) / known : 0))),
  );
}

/**
 * Every score of the turns of the past by its name, but for feedback.
 *
 * @param past in time order
 * @param names whom a text may name, lower-case
 */
export function textScoresOf(past: readonly Turn[], text: string, names: readonly string[]): Map<string, number[]> {
  const nameless = text.replace(/[a-z]+/gi, (word) => (names.includes(word.toLowerCase()) ? ' ' : word));
  const texts = past.map((turn) => turn.text);
  const sessionOf = (turn: Turn) =>
    past.filter((other) => other.conversationId === turn.conversationId && other.channel === turn.channel);
  const windows = (reach: number) =>
    past.map((turn) => {
      const session = sessionOf(turn);
      const place = session.indexOf(turn);
      return session.slice(Math.max(0, place - reach), place + reach + 1).flatMap((other) => wordsOf(other.text));
    });
  const sessions = [...new Map(past.map((turn) => [`${turn.conversationId} ${turn.channel}`, turn])).values()];
  const ofSessions = (scores: readonly number[]) =>
    past.map((turn) => scores[sessions.findIndex((other) => sessionOf(turn).includes(other))] as number);
  const words = wordsOf(nameless);
  const turns = texts.map(wordsOf);
  const whole = sessions.map((turn) => sessionOf(turn).flatMap((other) => wordsOf(other.text)));
  return new Map([
    ['bm25', bm25(turns, words)],
    ['coverage', coverage(turns, words)],
    ['characters', bm25(texts.map(gramsOf), gramsOf(nameless))],
    ['pairs', bm25(texts.map(pairsOf), pairsOf(nameless))],
    [
      'bm25-author',
      bm25(
        past.map((turn) => wordsOf(`${turn.author ?? ''} ${turn.text}`)),
        wordsOf(text),
      ),
    ],
    ['bm25-window-1', bm25(windows(1), words)],
    ['coverage-window-1', coverage(windows(1), words)],
    ['bm25-window-2', bm25(windows(2), words)],
    ['coverage-window-2', coverage(windows(2), words)],
    ['bm25-session', ofSessions(bm25(whole, words))],
    ['coverage-session', ofSessions(coverage(whole, words))],
  ]);
}
