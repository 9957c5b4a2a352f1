import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../core/numbers/random.ts';
import type { Dataset, Query } from '../model/dataset.ts';
import { compareBytes } from '../model/turns/tie-rule.ts';
import type { Turn } from '../model/turns/turn.ts';
import { DATASETS } from './registry.ts';

interface DatasetContractOptions {
  /** Reads the same source with other answers: for each query id the turn that the source then gives as its only answer. */
  readonly reassigned: (
    answers: ReadonlyMap<string, string>,
  ) => Promise<Pick<Dataset, 'corpus' | 'queries' | 'qrels' | 'relevantGrade'>>;
  /** True if the source can mark the turn, which is earlier, as the answer of the query. By default it always can. */
  readonly mayAnswer?: (turn: Turn, query: Query, dataset: Dataset) => boolean;
  /** False if the source itself splits single queries, so that a conversation may be in neither part as a whole. */
  readonly splitsConversations?: boolean;
}

/** The conversation that a query is known to belong to. */
function findKnownConversation(
  { corpus }: Dataset,
  { conversationId, turnId, anchorTurnId }: Query,
): string | undefined {
  const known = turnId ?? anchorTurnId;
  return conversationId ?? (known === null ? undefined : corpus.getTurn(known).conversationId);
}

/** For each query that the source could answer by another turn such a turn: the next one from a place drawn at random. */
function drawOtherAnswers(dataset: Dataset, mayAnswer: DatasetContractOptions['mayAnswer']): Map<string, string> {
  const { corpus, queries, qrels, relevantGrade } = dataset;
  const stream = createRandom(0, 'other answers');
  const answers = new Map<string, string>();
  for (const query of queries) {
    const { id, timestamp, conversationId } = query;
    const earlier = corpus.countEarlierTurns(timestamp);
    const start = stream.integer(Math.max(earlier, 1));
    const isFitting = (turn: Turn) =>
      turn.conversationId === (conversationId ?? turn.conversationId) &&
      (qrels.get(id)?.get(turn.id) ?? 0) < relevantGrade &&
      (mayAnswer?.(turn, query, dataset) ?? true);
    const other = [...corpus.turns.slice(start, earlier), ...corpus.turns.slice(0, start)].find(isFitting);
    if (other !== undefined) answers.set(id, other.id);
  }
  return answers;
}

/** A query without its split and cluster, which follow its conversation and which no scorer reads. */
function omitSplit({ split: _split, cluster: _cluster, ...query }: Query): string {
  return JSON.stringify(query);
}

/** A turn without its place in a tree: a turn that is itself a query is a child of its answer. */
function omitParent({ parentId: _parent, conversationId: _conversation, ...turn }: Turn): string {
  return JSON.stringify(turn);
}

/** The contract of every dataset, as tests; `load` reads the same source again each time. */
export function describeDataset(
  name: string,
  load: () => Promise<Dataset>,
  { reassigned, mayAnswer, splitsConversations = true }: DatasetContractOptions,
): void {
  describe(`dataset contract: ${name}`, () => {
    let dataset: Dataset;
    beforeAll(async () => {
      dataset = await load();
    });

    test('says what it is, under the name that it is registered by', () => {
      const { task, features, licence } = dataset.declaration;
      expect(DATASETS.names).toContain(dataset.name);
      for (const text of [task, licence, ...features]) expect(text).toMatch(/^\S.*\S$/);
      expect(features).toContain('text');
      for (const [fact, count] of Object.entries(dataset.facts))
        expect(Number.isInteger(count) && count >= 0, `${fact}: ${count}`).toBe(true);
    });

    test('has queries, each with an id and a text of its own, in time order', () => {
      const { queries } = dataset;
      expect(queries.length).toBeGreaterThan(0);
      expect(new Set(queries.map(({ id }) => id)).size).toBe(queries.length);
      for (const { id, text, timestamp, cluster } of queries) {
        expect(id).toMatch(/^\S+$/); // a column of a run file
        expect(text.trim()).not.toBe('');
        expect(cluster).not.toBe('');
        expect(Number.isFinite(timestamp)).toBe(true);
      }
      const sorted = [...queries].sort((a, b) => a.timestamp - b.timestamp);
      expect(queries.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
    });

    test('has turn ids that a run file can hold', () => {
      for (const { id } of dataset.corpus.turns) expect(id).toMatch(/^\S+$/);
    });

    test('judges turns that are there, strictly earlier than the query, in the conversation that is asked', () => {
      const { corpus, queries, qrels, relevantGrade } = dataset;
      expect([...qrels.keys()].sort(compareBytes)).toEqual(queries.map(({ id }) => id).sort(compareBytes));
      for (const query of queries)
        for (const [turnId, grade] of qrels.get(query.id) ?? []) {
          const turn = corpus.getTurn(turnId);
          expect(turn.timestamp, `${turnId} for ${query.id}`).toBeLessThan(query.timestamp);
          if (query.conversationId !== undefined) expect(turn.conversationId).toBe(query.conversationId);
          expect(Number.isInteger(grade)).toBe(true);
        }
      expect(relevantGrade).toBeGreaterThanOrEqual(1);
      expect([...qrels.values()].some((grades) => [...grades.values()].some((grade) => grade >= relevantGrade))).toBe(
        true,
      );
    });

    test('has a name for every grade above 0, or for none', () => {
      const grades = [...dataset.qrels.values()].flatMap((judged) => [...judged.values()]).filter((grade) => grade > 0);
      const named = Object.keys(dataset.gradeNames).map(Number);
      if (named.length > 0) expect(named).toEqual(expect.arrayContaining([...new Set(grades)]));
    });

    test('asks where there is something to be found: an anchor is earlier, a query that is a turn is not', () => {
      const { corpus, queries } = dataset;
      for (const query of queries) {
        const { conversationId, anchorTurnId, turnId, timestamp } = query;
        if (conversationId !== undefined)
          expect(corpus.getConversation(conversationId).turns[0]?.timestamp).toBeLessThan(timestamp);
        if (anchorTurnId !== null) expect(corpus.getTurn(anchorTurnId).timestamp).toBeLessThan(timestamp);
        if (turnId !== undefined) expect(corpus.getTurn(turnId).timestamp).toBeGreaterThanOrEqual(timestamp);
        for (const id of [anchorTurnId, turnId])
          if (typeof id === 'string')
            expect(corpus.getTurn(id).conversationId).toBe(findKnownConversation(dataset, query));
      }
    });

    test('lets nothing be learned from a conversation that a test query belongs to', () => {
      const { corpus, queries, devConversations } = dataset;
      for (const id of devConversations) expect(corpus.getConversation(id).turns.length).toBeGreaterThan(0);
      for (const query of queries) {
        const home = findKnownConversation(dataset, query);
        if (home === undefined) continue;
        if (query.split === 'test') expect(devConversations.has(home), query.id).toBe(false);
        else if (splitsConversations) expect(devConversations.has(home), query.id).toBe(true);
      }
    });

    test('computes queries and turns without the judgements', async () => {
      const answers = drawOtherAnswers(dataset, mayAnswer);
      expect(answers.size).toBeGreaterThan(0);
      const other = await reassigned(answers);
      for (const [queryId, turnId] of answers) {
        const relevant = [...(other.qrels.get(queryId) ?? [])].filter(([, grade]) => grade >= other.relevantGrade);
        expect(relevant.map(([id]) => id)).toEqual([turnId]);
      }
      expect(other.queries.map(omitSplit)).toEqual(dataset.queries.map(omitSplit));
      expect(other.corpus.turns.map(omitParent)).toEqual(dataset.corpus.turns.map(omitParent));
    });

    test('shows a query the same past, trees and all, whatever answers it', async () => {
      const [queryId, turnId] = [...drawOtherAnswers(dataset, mayAnswer)].at(-1) as [string, string];
      const other = await reassigned(new Map([[queryId, turnId]]));
      const describeSeen = ({ corpus, queries }: Pick<Dataset, 'corpus' | 'queries'>) => {
        const query = queries.find(({ id }) => id === queryId) as Query;
        const past = corpus.turns.slice(0, corpus.countEarlierTurns(query.timestamp));
        return [omitSplit(query), ...past.map((turn) => JSON.stringify(turn))];
      };
      expect(describeSeen(other)).toEqual(describeSeen(dataset));
    });

    test('is the same when it is read again', async () => {
      const again = await load();
      expect(dataset.hash).toMatch(/^[0-9a-f]{64}$/);
      expect(again.hash).toBe(dataset.hash);
      expect(again.corpus.turns).toEqual(dataset.corpus.turns);
      expect(again.queries).toEqual(dataset.queries);
      expect([...again.qrels]).toEqual([...dataset.qrels]);
    });
  });
}
