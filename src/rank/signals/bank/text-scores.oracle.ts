import type { Turn } from '../../../model/turns/turn.ts';

/**
 * The scores by words, written out over the texts of the turns before a moment. For texts of words without endings and stop words, which {@link STOP_WORDS}
 * lists.
 */

const STOP_WORDS = ['in', 'with', 'when', 'who', 'how', 'many'];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export const listUnstoppedWords = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => !STOP_WORDS.includes(word));
const listPlainWordPairs = (text: string) => {
  const words = listUnstoppedWords(text);
  return words.slice(1).map((word, i) => `${words[i]} ${word}`);
};
const listPlainGrams = (text: string) =>
  listUnstoppedWords(text).flatMap((word) => {
    const marked = `_${word}_`;
    return marked.length <= 4 ? [marked] : [...marked.slice(3)].map((_, start) => marked.slice(start, start + 4));
  });

const computeOracleIdf = (count: number, frequency: number) =>
  Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));

/** BM25 with k1 = 1.2 and b = 0.75 of each document, given by its terms. */
function computeDocumentBm25(documents: readonly (readonly string[])[], query: readonly string[]): number[] {
  const average = sum(documents.map(({ length }) => length)) / documents.length;
  return documents.map((document) =>
    sum(
      query.map((term) => {
        const frequency = documents.filter((other) => other.includes(term)).length;
        const count = document.filter((other) => other === term).length;
        if (count === 0) return 0;
        return (
          (computeOracleIdf(documents.length, frequency) * count) /
          (count + 1.2 * (0.25 + (0.75 * document.length) / average))
        );
      }),
    ),
  );
}

function computeDocumentCoverage(documents: readonly (readonly string[])[], query: readonly string[]): number[] {
  const terms = [...new Set(query)];
  const worth = terms.map((term) => {
    const frequency = documents.filter((document) => document.includes(term)).length;
    return frequency === 0 ? 0 : computeOracleIdf(documents.length, frequency);
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
export function computePlainTextScores(
  past: readonly Turn[],
  text: string,
  names: readonly string[],
): Map<string, number[]> {
  const nameless = text.replace(/[a-z]+/gi, (word) => (names.includes(word.toLowerCase()) ? ' ' : word));
  const texts = past.map((turn) => turn.text);
  const listSessionOfTurn = (turn: Turn) =>
    past.filter((other) => other.conversationId === turn.conversationId && other.channel === turn.channel);
  const listWindows = (reach: number) =>
    past.map((turn) => {
      const session = listSessionOfTurn(turn);
      const place = session.indexOf(turn);
      return session
        .slice(Math.max(0, place - reach), place + reach + 1)
        .flatMap((other) => listUnstoppedWords(other.text));
    });
  const sessions = [...new Map(past.map((turn) => [`${turn.conversationId} ${turn.channel}`, turn])).values()];
  const spreadSessionScores = (scores: readonly number[]) =>
    past.map((turn) => scores[sessions.findIndex((other) => listSessionOfTurn(turn).includes(other))] as number);
  const words = listUnstoppedWords(nameless);
  const turns = texts.map(listUnstoppedWords);
  const whole = sessions.map((turn) => listSessionOfTurn(turn).flatMap((other) => listUnstoppedWords(other.text)));
  return new Map([
    ['bm25', computeDocumentBm25(turns, words)],
    ['coverage', computeDocumentCoverage(turns, words)],
    ['characters', computeDocumentBm25(texts.map(listPlainGrams), listPlainGrams(nameless))],
    ['pairs', computeDocumentBm25(texts.map(listPlainWordPairs), listPlainWordPairs(nameless))],
    [
      'bm25.author',
      computeDocumentBm25(
        past.map((turn) => listUnstoppedWords(`${turn.author ?? ''} ${turn.text}`)),
        listUnstoppedWords(text),
      ),
    ],
    ['bm25.window-1', computeDocumentBm25(listWindows(1), words)],
    ['coverage.window-1', computeDocumentCoverage(listWindows(1), words)],
    ['bm25.window-2', computeDocumentBm25(listWindows(2), words)],
    ['coverage.window-2', computeDocumentCoverage(listWindows(2), words)],
    ['bm25.session', spreadSessionScores(computeDocumentBm25(whole, words))],
    ['coverage.session', spreadSessionScores(computeDocumentCoverage(whole, words))],
  ]);
}
