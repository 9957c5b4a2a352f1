import type { Run } from '../../model/run.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeWarning } from '../measure/warning.ts';

/** The share of an arm's ranked turns from which ties at the ends of its rankings are reported: fewer hardly move a figure. */
const REPORTED_SHARE = 0.05;

/** The number of last turns of a ranking that have one score, best first; 0 if the last turn has a score of its own. */
function countTiedEnd(ranking: readonly Scored[]): number {
  const last = ranking.at(-1)?.score;
  const tied = ranking.length - 1 - ranking.findLastIndex(({ score }) => score !== last);
  return tied < 2 ? 0 : tied;
}

function describeTiedEnds(rankings: readonly (readonly Scored[])[]): string | null {
  const ends = rankings.map((ranking) => ({ tied: countTiedEnd(ranking), ranked: ranking.length }));
  const tied = ends.reduce((sum, end) => sum + end.tied, 0);
  const ranked = ends.reduce((sum, end) => sum + end.ranked, 0);
  if (tied === 0 || tied < REPORTED_SHARE * ranked) return null;
  const cut = ends.filter((end) => end.tied > 0);
  const share = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
  const first = cut.map((end) => end.ranked - end.tied + 1).sort((a, b) => a - b)[Math.floor(cut.length / 2)];
  return `the last turns of a ranking have one score and are in the order of their ids, in ${share(cut.length, rankings.length)} queries, ${share(tied, ranked)} ranked turns, in half of these queries from rank ${first} or earlier; add a signal that scores them, or lower evaluation.depth`;
}

/**
 * A warning for each arm whose rankings end in turns of one score, which only the tie rule orders: by id, descending. Ids often follow time, so such an order may find
 * much that the arm does not. Of a ranking, as deep as `evaluation.depth`, all last turns with the score of the last one count, if they are at least two; an arm is
 * reported if they are at least 5 % of its ranked turns.
 *
 * @param runs the rankings by the name of the arm.
 * @param queries the measured ones.
 */
export function findTiedEndWarnings(
  runs: ReadonlyMap<string, Run>,
  queries: readonly { readonly id: string }[],
): ProtocolWarning[] {
  return [...runs].flatMap(([name, run]) => {
    const text = describeTiedEnds(queries.map(({ id }) => run.get(id) ?? []));
    return text === null ? [] : [describeWarning('tied-end', name, text)];
  });
}
