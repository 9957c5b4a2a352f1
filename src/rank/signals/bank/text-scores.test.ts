import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { TermPostings } from '../../../index/words/bm25.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions } from '../../../model/turns/sessions.ts';
import { computePlainTextScores, listUnstoppedWords } from './text-scores.oracle.ts';
import { chooseFeedbackTerms, TERM_KINDS, type TermKind, TextScores } from './text-scores.ts';
import { drawSampleThreads } from './threads.fixture.ts';
import { AuthorNames } from './turn-forms.ts';

const { turns, queries } = drawSampleThreads(11);
const corpus = new Corpus(turns);
const sessions = groupSessions(corpus);

/** Every score of the turns before the cutoff; those of sessions by their turns. */
function listTextScores(scores: TextScores, text: string, cutoff: number): Map<string, number[]> {
  const all = new Map<string, number[]>();
  for (const { name, of, scores: values } of scores.scoreDocuments(text, cutoff)) {
    const findTurnDocument = (turn: number) => (of === 'sessions' ? (sessions.sessionOf[turn] as number) : turn);
    all.set(
      name,
      Array.from({ length: cutoff }, (_, turn) => values[findTurnDocument(turn)] as number),
    );
  }
  return all;
}

describe.each([true, false])('author may be looked at: %s', (author) => {
  const scores = new TextScores(corpus, sessions, new AuthorNames(author ? corpus.turns : []), { author });

  test.each(queries.map((query) => [query.id, query] as const))(
    'scores are those of the turns before %s',
    (_, query) => {
      const cutoff = turns.filter(({ timestamp }) => timestamp < query.timestamp).length;
      const past = corpus.turns.slice(0, cutoff);
      const names = author ? past.flatMap((turn) => turn.author ?? []) : [];
      const expected = computePlainTextScores(past, query.text, names);
      if (!author) expected.delete('bm25.author');
      const all = listTextScores(scores, query.text, cutoff);
      expect(all.delete('feedback')).toBe(true);
      expect([...all.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [name, values] of expected)
        for (const [turn, value] of values.entries()) expect(all.get(name)?.[turn], name).toBeCloseTo(value, 10);
    },
  );
});

test('feedback finds turns that share no word with the query', () => {
  const scores = new TextScores(corpus, sessions, new AuthorNames([]), { author: false });
  const all = listTextScores(scores, 'drum', corpus.size);
  const others = corpus.turns.map((turn, i) =>
    listUnstoppedWords(turn.text).includes('drum') ? 0 : (all.get('feedback')?.[i] as number),
  );
  expect(Math.max(...others)).toBeGreaterThan(0);
  expect(
    all.get('bm25')?.some((score, i) => score > 0 !== listUnstoppedWords(corpus.turns[i]?.text ?? '').includes('drum')),
  ).toBe(false);
});

test('of a text without a known word nothing is said', () => {
  const scores = new TextScores(corpus, sessions, new AuthorNames([]), { author: true });
  for (const [name, values] of listTextScores(scores, 'Zzz?', 31)) expect(Math.max(...values), name).toBe(0);
});

const plain = { dropStopWords: false, stem: false };

test.each<[TermKind, string, string[]]>([
  ['words', 'Bread, the soup.', ['bread', 'the', 'soup']],
  ['words', '', []],
  ['pairs', 'Bread, the soup.', ['bread the', 'the soup']],
  ['pairs', 'bread', []],
  ['characters', 'Soup of o', ['_sou', 'soup', 'oup_', '_of_', '_o_']],
  // A letter beyond the basic plane is one character.
  ['characters', '𐐨𐐨𐐨', ['_𐐨𐐨𐐨', '𐐨𐐨𐐨_']],
  ['characters', 'soup soup', ['_sou', 'soup', 'oup_', '_sou', 'soup', 'oup_']],
])('%s of %j', (kind, text, terms) => {
  expect(TERM_KINDS[kind](plain)(text)).toEqual(terms);
});

test('stop words are dropped before words are paired, and grams are of whole words', () => {
  const options = { dropStopWords: true, stem: true };
  expect(TERM_KINDS.words(options)('the trains of bakers')).toEqual(['train', 'baker']);
  expect(TERM_KINDS.pairs(options)('the trains of bakers')).toEqual(['train baker']);
  expect(TERM_KINDS.characters(options)('of trains')).toEqual(['_tra', 'trai', 'rain', 'ains', 'ins_']);
});

const LETTERS = 'abcdefghijklmnopqrstuvw'.split('');
const splitIntoWords = (text: string) => text.split(' ').filter((word) => word !== '');
const computeRarity = (count: number, frequency: number) => Math.log((count + 1) / frequency);

/** Scores and the texts that have them; some texts are empty, some scores equal, some not above 0. */
function sample(seed: number, size: number) {
  const source = createRandom(seed, 'feedback');
  const texts = Array.from({ length: size }, () =>
    Array.from({ length: source.integer(11) }, () => LETTERS[source.integer(LETTERS.length)]).join(' '),
  );
  return { texts, scores: Float64Array.from(texts, () => source.integer(7) - 1) };
}

/** Score x rarity / length of each term of the five best turns, and the twelve that sum to most. */
function computeExpectedTerms(texts: readonly string[], scores: Float64Array): string[] {
  const past = texts.slice(0, scores.length);
  const best = [...past.keys()].filter((turn) => (scores[turn] as number) > 0);
  best.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const worth = new Map<string, number>();
  for (const turn of best.slice(0, 5)) {
    const words = splitIntoWords(past[turn] as string);
    for (const word of new Set(words)) {
      const frequency = past.filter((text) => splitIntoWords(text).includes(word)).length;
      const share = ((scores[turn] as number) / words.length) * computeRarity(past.length, frequency);
      worth.set(word, (worth.get(word) ?? 0) + share);
    }
  }
  const sorted = [...worth].sort(([a, x], [b, y]) => (Math.abs(x - y) > 1e-12 ? y - x : a < b ? -1 : 1));
  return sorted.slice(0, 12).map(([word]) => word);
}

test.each([1, 2, 3, 5, 7])('takes what the best turns before the cutoff have in common: sample %i', (seed) => {
  const { texts, scores } = sample(seed, 37);
  const postings = new TermPostings(texts, splitIntoWords);
  for (const cutoff of [37, 23, 11, 3, 1, 0]) {
    const found = chooseFeedbackTerms(scores.subarray(0, cutoff), postings, computeRarity);
    expect([...found.keys()]).toEqual(computeExpectedTerms(texts, scores.subarray(0, cutoff)));
    expect([...found.values()].every((times) => times === 1)).toBe(true);
  }
});

test('takes nothing where nothing was found', () => {
  const postings = new TermPostings(['soup', 'bread'], splitIntoWords);
  expect(chooseFeedbackTerms(new Float64Array(2), postings, computeRarity).size).toBe(0);
});
