import type { MemoryRecord } from '../../model/turns/memory-record.ts';
import { computeCosine } from '../curation/curation-choice.ts';
import type { PriorBundle } from '../outcomes/prior-bundle.ts';
import { buildConsolidated, computeMeanVector, readUser } from './consolidated-record.ts';

/** When outcomes repeat. */
export interface ProcedureOptions {
  /** The cosine from which two triggers, and two actions, are the same. */
  readonly similarity: number;
  readonly minRepeats: number;
  /** The largest standard deviation of the outcomes. */
  readonly largestDeviation: number;
}

/** Pools outcomes as the memory does. */
export type ComputePriors = (records: readonly MemoryRecord[]) => PriorBundle;

/** Something that was done, and what it answered. */
interface Attempt {
  readonly trigger: MemoryRecord;
  readonly action: MemoryRecord;
}

/** The attempts of each group, whose first one the others resemble; in the order of their times. */
function groupAttempts(attempts: readonly Attempt[], similarity: number): Attempt[][] {
  const groups: Attempt[][] = [];
  const isLike = (a: MemoryRecord, b: MemoryRecord) => computeCosine(a.embedding, b.embedding) >= similarity;
  for (const attempt of attempts) {
    const { trigger, action } = attempt;
    const group = groups.find(([first]) => {
      const leader = first as Attempt;
      const isOfOne = readUser(leader.action) === readUser(action) && readUser(leader.trigger) === readUser(trigger);
      return isOfOne && isLike(leader.trigger, trigger) && isLike(leader.action, action);
    });
    if (group === undefined) groups.push([attempt]);
    else group.push(attempt);
  }
  return groups;
}

/** The record closest to the mean, the first among equals. */
function findMedoid(records: readonly MemoryRecord[]): { readonly medoid: MemoryRecord; readonly mean: Float32Array } {
  const mean = computeMeanVector(records.map(({ embedding }) => embedding));
  const rated = records.map((record) => ({ record, cosine: computeCosine(record.embedding, mean) }));
  return { medoid: rated.reduce((best, one) => (one.cosine > best.cosine ? one : best)).record, mean };
}

/** A prior as attributes; its figures are of the actions' outcomes, with those observed later. */
function toAttributes({ count, mean, confidence, interval }: PriorBundle) {
  return {
    priorCount: count,
    priorMean: mean as number,
    priorConfidence: confidence as number,
    ...(interval === null ? {} : { priorLow: interval[0], priorHigh: interval[1] }),
  };
}

/** A trigger and an action, in the words of the attempts closest to the mean; found by what its triggers mean. */
function buildProcedure(group: readonly Attempt[], prior: PriorBundle): MemoryRecord {
  const triggers = findMedoid(group.map(({ trigger }) => trigger));
  const action = findMedoid(group.map((attempt) => attempt.action)).medoid.context;
  const episodes = group.flatMap((attempt) => [attempt.trigger, attempt.action]);
  const attributes = { trigger: triggers.medoid.context, action, ...toAttributes(prior) };
  const first = group[0] as Attempt;
  const key = ['procedural', first.trigger.id, first.action.id];
  return buildConsolidated('procedural', key, episodes, { context: action, embedding: triggers.mean, attributes });
}

/**
 * What was done again and again with nearly the same outcome. An attempt is an episode with an outcome that answers another episode, its parent. Attempts whose
 * triggers and whose actions resemble those of an earlier one belong together. O(attempts x groups).
 *
 * @param episodes in the order of their times.
 */
export function findProcedures(
  episodes: readonly MemoryRecord[],
  options: ProcedureOptions,
  computePriors: ComputePriors,
): MemoryRecord[] {
  const byId = new Map(episodes.map((episode) => [episode.id, episode]));
  const attempts = episodes.flatMap((action): Attempt[] => {
    const trigger = action.parentId === null ? undefined : byId.get(action.parentId);
    return trigger === undefined || action.outcome === null ? [] : [{ trigger, action }];
  });
  return groupAttempts(attempts, options.similarity).flatMap((group) => {
    if (group.length < options.minRepeats) return [];
    const actions = group.map(({ action }) => action);
    const prior = computePriors(actions);
    return Math.sqrt(prior.variance as number) > options.largestDeviation ? [] : [buildProcedure(group, prior)];
  });
}
