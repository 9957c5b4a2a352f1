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
