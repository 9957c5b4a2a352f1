import { beforeAll, describe, expect, test } from 'vitest';
import type { Dataset, Query } from '../model/dataset.ts';
import { compareBytes } from '../model/tie-rule.ts';
import { DATASETS } from './registry.ts';

export interface DatasetContractOptions {
  /** False where the source itself parts single queries, so that a conversation may belong to neither part as a whole. */
  readonly splitsConversations?: boolean;
}

/** The conversation that a query is known to belong to. */
function homeOf({ corpus }: Dataset, { conversationId, turnId, anchorTurnId }: Query): string | undefined {
  const known = turnId ?? anchorTurnId;
  return conversationId ?? (known === null ? undefined : corpus.turn(known).conversationId);
}

/** What every dataset promises, as tests; `load` reads the same source anew each time. */
export function describeDataset(
  name: string,
  load: () => Promise<Dataset>,
  { splitsConversations = true }: DatasetContractOptions = {},
): void {
  describe(`dataset contract: ${name}`, () => {
    let dataset: Dataset;
    beforeAll(async () => {
      dataset = await load();
    });

    test('says what it is, under the name that it is registered by', () => {
      const { task, features, licence } = dataset.declaration;
      expect(Object.keys(DATASETS)).toContain(dataset.name);
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
          const turn = corpus.turn(turnId);
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
          expect(corpus.conversation(conversationId).turns[0]?.timestamp).toBeLessThan(timestamp);
        if (anchorTurnId !== null) expect(corpus.turn(anchorTurnId).timestamp).toBeLessThan(timestamp);
        if (turnId !== undefined) expect(corpus.turn(turnId).timestamp).toBeGreaterThanOrEqual(timestamp);
        for (const id of [anchorTurnId, turnId])
          if (typeof id === 'string') expect(corpus.turn(id).conversationId).toBe(homeOf(dataset, query));
      }
    });

    test('lets nothing be learned from a conversation that a test query belongs to', () => {
      const { corpus, queries, devConversations } = dataset;
      for (const id of devConversations) expect(corpus.conversation(id).turns.length).toBeGreaterThan(0);
      for (const query of queries) {
        const home = homeOf(dataset, query);
        if (home === undefined) continue;
        if (query.split === 'test') expect(devConversations.has(home), query.id).toBe(false);
        else if (splitsConversations) expect(devConversations.has(home), query.id).toBe(true);
      }
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
