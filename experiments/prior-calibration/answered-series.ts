import type { Dataset } from '../../src/model/dataset.ts';
import { type OutcomeSeries, sortByTime } from './outcome-series.ts';

const HOUR_MILLISECONDS = 3_600_000;

/**
 * The turns of a dataset, and whether somebody else answers each within some hours. Both outcomes are known when the hours have passed: if an answer counted as
 * soon as it came, the latest turns of a memory would all be answered ones. Turns too near the end of the corpus have no outcome and are left out.
 */
export function buildAnsweredSeries(
  dataset: Pick<Dataset, 'name' | 'corpus' | 'devConversations' | 'hash'>,
  hours: number,
): OutcomeSeries {
  const { corpus, devConversations, hash } = dataset;
  const delay = hours * HOUR_MILLISECONDS;
  const last = corpus.turns.at(-1)?.timestamp ?? 0;
  const answered = new Set<string>();
  for (const turn of corpus.turns) {
    if (turn.parentId === null) continue;
    const parent = corpus.getTurn(turn.parentId);
    const own = turn.author !== null && turn.author === parent.author;
    if (!own && turn.timestamp <= parent.timestamp + delay) answered.add(parent.id);
  }
  const known = corpus.turns.filter(({ timestamp }) => timestamp + delay <= last);
  return {
    name: 'answered',
    source: dataset.name,
    turns: sortByTime(
      known.map(({ id, text, timestamp, conversationId }) => ({
        id,
        text,
        timestamp,
        outcome: answered.has(id) ? 1 : 0,
        cluster: conversationId,
        dev: devConversations.has(conversationId),
      })),
    ),
    delay,
    hash,
    facts: { 'left out: outcome after the end of the corpus': corpus.size - known.length },
  };
}
