import { z } from 'zod';
import { getOrCompute } from '../../core/values/once.ts';
import type { MemoryRecord } from '../../model/turns/memory-record.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { buildConsolidated, computeMeanVector, isEpisode, readUser } from './consolidated-record.ts';
import { chooseSentences } from './extractive-summary.ts';
import { type ComputePriors, findProcedures } from './find-procedures.ts';

/** What is consolidated, and how. */
export const consolidationOptions = z.strictObject({
  /** Episodes of a session from which a summary is written. */
  minEpisodes: z.int().min(1).default(5),
  /** Sentences of a summary. */
  sentences: z.int().min(1).default(5),
  /** Weight of what is common to the session against what is new in a sentence. */
  lambda: z.number().min(0).max(1).default(0.7),
  /** Only sessions with an episode that was retrieved so often; 0: all. */
  minRetrievals: z.int().min(0).default(0),
  /** The cosine from which two triggers, and two actions, are the same. */
  similarity: z.number().min(-1).max(1).default(0.9),
  /** Outcomes from which a procedure is written. */
  minRepeats: z.int().min(2).default(3),
  /** The largest standard deviation of outcomes that repeat. */
  largestDeviation: z.number().min(0).default(0.25),
});
/** What is consolidated, and how. */
export type ConsolidationOptions = z.input<typeof consolidationOptions>;

/** Knows how often an entry was retrieved: a `QueryPatternTracker`, or what reads a log. */
export interface RetrievalCounts {
  getRetrievals(id: string): number;
}

/** The episodes of each session of each person. */
function groupBySession(episodes: readonly MemoryRecord[]): Map<string, MemoryRecord[]> {
  const sessions = new Map<string, MemoryRecord[]>();
  for (const episode of episodes) {
    const { conversationId, channel } = episode;
    getOrCompute(sessions, JSON.stringify([conversationId, channel, readUser(episode)]), () => []).push(episode);
  }
  return sessions;
}

async function writeSummary(
  session: string,
  episodes: readonly MemoryRecord[],
  options: z.output<typeof consolidationOptions>,
): Promise<MemoryRecord[]> {
  const chosen = await chooseSentences(
    episodes.map(({ context }) => context),
    options,
  );
  if (chosen.length === 0) return [];
  const vectors = chosen.map(({ from }) => (episodes[from] as MemoryRecord).embedding);
  const context = chosen.map(({ text }) => text).join(' ');
  return [
    buildConsolidated('summary', ['summary', session], episodes, { context, embedding: computeMeanVector(vectors) }),
  ];
}

/**
 * The records that consolidation writes: a summary of each long session and a procedure where outcomes repeat. Each lists its episodes, and is made of
 * their words: no model writes. Sensitive and superseded records are left out.
 */
export async function planConsolidation(
  records: Iterable<MemoryRecord>,
  options: z.output<typeof consolidationOptions>,
  { computePriors, retrievals }: { readonly computePriors: ComputePriors; readonly retrievals: RetrievalCounts | null },
): Promise<MemoryRecord[]> {
  const episodes = [...records].filter(isEpisode).sort((a, b) => a.createdAt - b.createdAt || compareBytes(a.id, b.id));
  const summaries: MemoryRecord[] = [];
  for (const [session, group] of groupBySession(episodes)) {
    const retrieved = group.reduce((most, { id }) => Math.max(most, retrievals?.getRetrievals(id) ?? 0), 0);
    if (group.length >= options.minEpisodes && retrieved >= options.minRetrievals)
      summaries.push(...(await writeSummary(session, group, options)));
  }
  return [...summaries, ...findProcedures(episodes, options, computePriors)];
}
