import * as tf from '@tensorflow/tfjs-core';
import { QueryError } from '../../core/errors/errors.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { MemoryRecord, RecordTrajectory } from '../../model/turns/turn.ts';
import { COORDINATES, listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import type { ReadRecord } from './following-index.ts';
import type { IndexAnswers } from './index-registry.ts';
import type { CandidateProvenance, CheckedQuery, RankedCandidate } from './query-response.ts';
import { computeRerankScores, type RerankerOptions } from './rerankers.ts';

function listCoordinates(trajectory: RecordTrajectory): number[] {
  return COORDINATES[5].map((name) => trajectory[name as keyof RecordTrajectory]);
}

/**
 * exp(-D) with the distance D of coordinates (definition 4.2 of diomande2026ragpp, default weights).
 *
 * @returns [records] in (0, 1]; null for a record without a trajectory.
 */
async function computeTrajectoryScores(
  query: RecordTrajectory,
  records: readonly (RecordTrajectory | null)[],
): Promise<(number | null)[]> {
  const known = records.filter((trajectory) => trajectory !== null);
  if (known.length === 0) return records.map(() => null);
  const scores = await readBack('computeTrajectoryScores', () => {
    const candidates = tf.tensor3d(known.flatMap(listCoordinates), [1, known.length, 5]);
    const distances = trajectoryDistance(
      candidates,
      tf.tensor3d(listCoordinates(query), [1, 1, 5]),
      tf.tensor1d(listCoordinateWeights(5)),
    );
    return tf.exp(tf.neg(distances));
  });
  let next = 0;
  return records.map((trajectory) => (trajectory === null ? null : (scores[next++] as number)));
}

/** What ranks the candidates of a query besides what the indexes found. */
export interface RankingInputs {
  readonly query: CheckedQuery;
  readonly k: number;
  readonly reranker: RerankerOptions | null;
  readonly read: ReadRecord;
}

type Candidate = Omit<RankedCandidate, 'rank' | 'recordId'> & { readonly id: string; readonly record: MemoryRecord };

/** Where each id was found, in the order of the indexes. */
function traceIds(found: IndexAnswers['found']): Map<string, (CandidateProvenance & { readonly distance: number })[]> {
  const traces = new Map<string, (CandidateProvenance & { readonly distance: number })[]>();
  for (const [index, matches] of found)
    for (const [i, { id, score, distance }] of matches.entries()) {
      const trace = { index, rank: i + 1, score, distance };
      const known = traces.get(id);
      if (known === undefined) traces.set(id, [trace]);
      else known.push(trace);
    }
  return traces;
}

/** Of one index the score itself; fused scores in proportion to the best one, so that a trajectory score can be mixed in. */
function listCandidates({ ranking, found }: IndexAnswers, read: RankingInputs['read']): Candidate[] {
  const traces = traceIds(found);
  const largest = found.size === 1 ? 1 : Math.abs(ranking[0]?.score ?? 1) || 1;
  return ranking.flatMap(({ id, score }) => {
    const record = read(id);
    const trace = traces.get(id);
    if (record === null || trace === undefined) return [];
    const [{ distance, score: semanticScore }] = trace as [CandidateProvenance & { readonly distance: number }];
    const provenance = trace.map(({ distance: _, ...rest }) => rest);
    return [{ id, record, score: score / largest, distance, semanticScore, trajectoryScore: null, provenance }];
  });
}

async function mixTrajectories(
  candidates: Candidate[],
  { trajectory, trajectoryWeight }: CheckedQuery,
): Promise<Candidate[]> {
  if (trajectory === undefined || trajectoryWeight === 0) return candidates;
  const scores = await computeTrajectoryScores(
    trajectory,
    candidates.map(({ record }) => record.trajectory),
  );
  return candidates.map((candidate, i) => {
    const trajectoryScore = scores[i] as number | null;
    if (trajectoryScore === null) return candidate;
    const score = (1 - trajectoryWeight) * candidate.score + trajectoryWeight * trajectoryScore;
    return { ...candidate, score, trajectoryScore };
  });
}

async function rerankCandidates(candidates: Candidate[], { reranker, query }: RankingInputs): Promise<Candidate[]> {
  if (reranker === null) return candidates;
  // From the newest candidate on, no age is negative.
  const newest = candidates.reduce(
    (latest, { record }) => Math.max(latest, record.createdAt),
    Number.NEGATIVE_INFINITY,
  );
  const asOf = query.asOf ?? newest;
  const scores = await computeRerankScores(
    candidates.map(({ score, record }) => ({ ...record, score })),
    reranker,
    asOf,
  );
  return candidates.map((candidate, i) => ({ ...candidate, score: assertScore(scores[i] as number, candidate) }));
}

/** @throws QueryError for a score that cannot be ranked, as a large factor of a large outcome makes it. */
function assertScore(score: number, { id, record }: Candidate): number {
  if (Number.isFinite(score)) return score;
  throw new QueryError(
    `score of record ${id} is not finite after reranking: ${score}; lower the factors of the reranker, or scale the outcomes down`,
    { id, score, outcome: record.outcome },
  );
}

/**
 * The best k of what the indexes found: relevance, (1 - w) relevance + w trajectory score where both sides have a trajectory, then the reranker. Equal scores
 * go by the tie rule.
 */
export async function rankCandidates(
  answers: IndexAnswers,
  inputs: RankingInputs,
): Promise<{ readonly candidates: RankedCandidate[]; readonly records: MemoryRecord[] }> {
  const mixed = await mixTrajectories(listCandidates(answers, inputs.read), inputs.query);
  const ranked = (await rerankCandidates(mixed.sort(compareScored), inputs)).sort(compareScored).slice(0, inputs.k);
  return {
    records: ranked.map(({ record }) => record),
    candidates: ranked.map(({ id, record: _, ...candidate }, i) => ({ recordId: id, rank: i + 1, ...candidate })),
  };
}
