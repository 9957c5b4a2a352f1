import { type JudgedRanking, judgeRanking } from './judged-ranking.ts';

/**
 * A ranking for tests, from the grades of its documents, best first.
 *
 * @param grades null for unjudged.
 * @param unretrieved grades of judged documents that the ranking lacks.
 */
export function buildSampleRanking(
  grades: readonly (number | null)[],
  unretrieved: readonly number[] = [],
  relevantGrade = 1,
): JudgedRanking {
  const ranking = grades.map((_, rank) => ({ id: `d${rank}`, score: -rank }));
  const judged = grades.flatMap((grade, rank): [string, number][] => (grade === null ? [] : [[`d${rank}`, grade]]));
  const lost = unretrieved.map((grade, i): [string, number] => [`lost${i}`, grade]);
  return judgeRanking('q', ranking, new Map([...judged, ...lost]), relevantGrade);
}

/**
 * A ranking for tests, best first: `+` is relevant, `.` unjudged, a lower-case letter superseded by the document with
 * the same letter in upper case, which is relevant.
 *
 * @param unretrieved further documents, that the ranking lacks.
 */
export function buildSupersededRanking(documents: string, unretrieved = ''): JudgedRanking {
  const ids = Array.from(documents, (letter, rank) => (/[a-z]/i.test(letter) ? letter : `${letter}${rank}`));
  const known = [...ids, ...unretrieved];
  const relevant = known.filter((id) => /^[A-Z+]/.test(id)).map((id) => [id, 1] as const);
  const superseded = known.filter((id) => /^[a-z]/.test(id)).map((id) => [id, id.toUpperCase()] as const);
  const ranking = ids.map((id, rank) => ({ id, score: -rank }));
  return judgeRanking('q', ranking, new Map(relevant), 1, { superseded: new Map(superseded) });
}
