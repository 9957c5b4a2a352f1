import { describe, expect, test } from 'vitest';
import { Corpus } from '../../../model/turns/corpus.ts';
import { AuthorNames } from './author-names.ts';
import { groupSessions } from './sessions.ts';
import { computePlainTextScores, listUnstoppedWords } from './text-scores.oracle.ts';
import { TextScores } from './text-scores.ts';
import { drawSampleThreads } from './threads.fixture.ts';

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
