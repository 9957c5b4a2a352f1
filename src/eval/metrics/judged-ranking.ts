import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { type Scored, sortByTieRule } from '../../model/turns/tie-rule.ts';

/** A number in brackets behind the name of a metric, as in `rbp(0.8)`. */
export interface MetricParameter {
  readonly name: string;
  /** Which numbers are accepted, in words. */
  readonly range: string;
  readonly example: number;
  accepts(value: number): boolean;
}

/** The better end of a metric. */
export type Direction = 'higher' | 'lower';

/** A metric before its cutoff is known. */
export interface MetricFamily {
  /** The name in configs, before the `@`. */
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /** True if `name@k` and `name` exist. */
  readonly cutoff: 'required' | 'optional' | 'none';
  /** True if the cutoff cannot be a budget of tokens: the metric divides by k. */
  readonly ranksOnly?: true;
  /** True if the metric uses grades, so that `rel`, a lowest relevant grade of its own, has no meaning. */
  readonly graded?: true;
  /** True if the metric needs the highest grade of the scale. */
  readonly readsScale?: true;
  /** True if the metric needs the superseded documents. */
  readonly readsSuperseded?: true;
  /** By default `higher`. */
  readonly better?: Direction;
  readonly parameter?: MetricParameter;
  /** The combination of the queries' values, as in trec_eval. */
  readonly aggregate: 'mean' | 'sum';
  /**
   * One sentence; `within` is a phrase such as ` among the first 10`, or empty without a cutoff.
   *
   * @param parameter NaN for a family without one.
   */
  define(within: string, k: number, parameter?: number): string;
  /** The value for one query. @param k ranks; infinite without a cutoff. @param parameter NaN without one. */
  compute(ranking: JudgedRanking, k: number, parameter?: number): number;
}

/** The grade of an unjudged document. */
export const UNJUDGED = -1;

/** One query's ranking with its documents replaced by their grades: all that a metric uses. R ranks. */
export interface JudgedRanking {
  /** [R] by rank, best first; {@link UNJUDGED} without a judgement. */
  readonly grades: Float64Array;
  /** [positive judgements] the positive grades among all judgements, descending: the best ranking that is possible. */
  readonly idealGrades: Float64Array;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** Judged documents that are relevant, retrieved or not. */
  readonly relevant: number;
  /** Judged documents that are not, retrieved or not. */
  readonly nonrelevant: number;
  /** The highest grade of the scale; null if unknown. */
  readonly highestGrade: number | null;
  /** [R] tokens of each document; null if unknown. */
  readonly tokens: Float64Array | null;
  /**
   * [R] for a superseded document the place, from 0, of the document that replaces it, infinite if that one is not
   * retrieved; NaN for every other document. Null if the superseded documents are unknown.
   */
  readonly replacements: Float64Array | null;
}

/** What some metrics need besides judgements. */
export interface RankingFacts {
  /** The superseded documents of the query, each with the document that replaces it. */
  readonly superseded?: ReadonlyMap<string, string>;
  /** The highest grade of the scale. */
  readonly highestGrade?: number;
  /** The number of tokens of a document. */
  readonly countTokens?: (id: string) => number;
}

function assertRanking(queryId: string, ranking: readonly Scored[]): void {
  const seen = new Set<string>();
  for (const { id, score } of ranking) {
    if (!Number.isFinite(score)) throw new NotFiniteError('score', `query ${queryId}, document ${id}`, score);
    if (seen.has(id))
      throw new ValidationError(`ranking of query ${queryId} repeats a document: ${id}; list it once`, { queryId, id });
    seen.add(id);
  }
}

/** The grade of a document; {@link UNJUDGED} below 0. */
const keepGrade = (grade = UNJUDGED) => (grade >= 0 ? grade : UNJUDGED);

/**
 * Sorts a ranking by the tie rule and looks its documents up. As in trec_eval, a negative grade means that the document was pooled but not judged.
 *
 * @throws NotFiniteError for a score or grade that is not finite, ValidationError for a repeated document; both name query and document.
 */
export function judgeRanking(
  queryId: string,
  ranking: readonly Scored[],
  judgements: ReadonlyMap<string, number>,
  relevantGrade: number,
  { highestGrade, countTokens, superseded }: RankingFacts = {},
): JudgedRanking {
  assertRanking(queryId, ranking);
  const sorted = sortByTieRule(ranking);
  const grades = new Float64Array(sorted.length);
  for (let rank = 0; rank < grades.length; rank++) grades[rank] = keepGrade(judgements.get(sorted[rank]!.id));
  return {
    ...judgeGrades(queryId, grades, judgements, relevantGrade, highestGrade),
    tokens: countTokens ? Float64Array.from(sorted, ({ id }) => readTokens(queryId, id, countTokens)) : null,
    replacements: superseded === undefined ? null : locateReplacements(sorted, superseded),
  };
}

/** [judgements] the grades, highest first. @throws NotFiniteError naming query and document. */
function sortGrades(queryId: string, judgements: ReadonlyMap<string, number>): Float64Array {
  const grades = new Float64Array(judgements.size);
  let size = 0;
  for (const [id, grade] of judgements) {
    if (!Number.isFinite(grade)) throw new NotFiniteError('grade', `query ${queryId}, document ${id}`, grade);
    grades[size++] = grade;
  }
  return grades.sort().reverse();
}

/** The same for a ranking whose documents are known by their grades alone, see {@link JudgedRanking.grades}. */
export function judgeGrades(
  queryId: string,
  grades: Float64Array,
  judgements: ReadonlyMap<string, number>,
  relevantGrade: number,
  highestGrade?: number,
): JudgedRanking {
  const best = sortGrades(queryId, judgements);
  let [judged, relevant, positive] = [0, 0, 0];
  for (; judged < best.length && best[judged]! >= 0; judged++) {
    if (best[judged]! >= relevantGrade) relevant++;
    if (best[judged]! > 0) positive++;
  }
  return {
    grades,
    idealGrades: best.slice(0, positive),
    relevantGrade,
    relevant,
    nonrelevant: judged - relevant,
    highestGrade: highestGrade ?? null,
    ...{ tokens: null, replacements: null },
  };
}

/** [R] see {@link JudgedRanking.replacements}. */
function locateReplacements(sorted: readonly Scored[], superseded: ReadonlyMap<string, string>): Float64Array {
  const wanted = new Set(superseded.values());
  const places = new Map<string, number>();
  for (const [place, { id }] of sorted.entries()) if (wanted.has(id)) places.set(id, place);
  return Float64Array.from(sorted, ({ id }) => {
    const replacement = superseded.get(id);
    return replacement === undefined ? Number.NaN : (places.get(replacement) ?? Number.POSITIVE_INFINITY);
  });
}

function readTokens(queryId: string, id: string, countTokens: (id: string) => number): number {
  const tokens = countTokens(id);
  if (!(tokens >= 0 && Number.isFinite(tokens)))
    throw new ValidationError(
      `tokens of document ${id}, query ${queryId}, are not a number from 0: ${tokens}; count the tokens of every document`,
      { queryId, id, tokens },
    );
  return tokens;
}

/** The same ranking and judgements by another lowest relevant grade. */
export function withRelevantGrade(ranking: JudgedRanking, relevantGrade: number): JudgedRanking {
  const relevant = ranking.idealGrades.filter((grade) => grade >= relevantGrade).length;
  return { ...ranking, relevantGrade, relevant, nonrelevant: ranking.relevant + ranking.nonrelevant - relevant };
}

/** The length of the longest prefix with at most this number of tokens: the first document that does not fit ends it. */
export function countRanksWithin(tokens: Float64Array, budget: number): number {
  let sum = 0;
  const rank = tokens.findIndex((count) => {
    sum += count;
    return sum > budget;
  });
  return rank === -1 ? tokens.length : rank;
}

/** The number of relevant documents among the first k. */
export function countRelevantWithin(ranking: JudgedRanking, k: number): number {
  const depth = Math.min(k, ranking.grades.length);
  let count = 0;
  for (let rank = 0; rank < depth; rank++) if ((ranking.grades[rank] as number) >= ranking.relevantGrade) count++;
  return count;
}

/** The number of unjudged documents among the first k. */
export function countHolesWithin(ranking: JudgedRanking, k: number): number {
  const depth = Math.min(k, ranking.grades.length);
  let count = 0;
  for (let rank = 0; rank < depth; rank++) if (ranking.grades[rank] === UNJUDGED) count++;
  return count;
}

/** The superseded documents among the first k, by place: where each is, and where the one that replaces it is. */
export function listReplacementsWithin(
  { replacements, grades }: JudgedRanking,
  k: number,
): { readonly place: number; readonly replacement: number }[] {
  if (replacements === null) return [];
  const shown = Array.from(replacements.subarray(0, Math.min(k, grades.length)));
  return shown.flatMap((replacement, place) => (Number.isNaN(replacement) ? [] : [{ place, replacement }]));
}
