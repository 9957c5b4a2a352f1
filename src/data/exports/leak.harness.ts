import { beforeAll, describe, expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** Words of a line that two messages do not share by chance. */
const RUN = 8;

const listWords = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The runs of words of a text, each as one text. */
function listRuns(text: string): string[] {
  const words = listWords(text);
  return words.slice(RUN - 1).map((_, end) => words.slice(end, end + RUN).join(' '));
}

function readPast({ corpus }: Dataset, { timestamp }: Query): readonly Turn[] {
  return corpus.turns.slice(0, corpus.countEarlierTurns(timestamp));
}

/**
 * The tests that queries made of turns pass: what a query may see does not depend on it or on anything later, and does not have its words or its place.
 *
 * @param loadUntil reads the same source without the messages at and after a time, and without queries.
 * @param hasVersions whether turns with the same author and parent are versions of one message.
 */
export function describeNoLeak(
  name: string,
  load: () => Promise<Dataset>,
  loadUntil: (end: number) => Promise<Dataset>,
  hasVersions: boolean,
): void {
  describe(`no look ahead: ${name}`, () => {
    let dataset: Dataset;
    beforeAll(async () => {
      dataset = await load();
    });

    test('a query sees what a source has that ends before it', async () => {
      expect(dataset.queries.length).toBeGreaterThan(0);
      for (const query of dataset.queries)
        expect((await loadUntil(query.timestamp)).corpus.turns, query.id).toEqual(readPast(dataset, query));
    });

    test('neither the turn itself nor what came after it is in its past, and it does not know its conversation', () => {
      const { corpus, queries } = dataset;
      for (const query of queries) {
        const past = new Set(readPast(dataset, query).map(({ id }) => id));
        const below = [query.turnId as string];
        for (const id of below) {
          expect(past.has(id), `${id} for ${query.id}`).toBe(false);
          const { conversationId } = corpus.getTurn(id);
          below.push(
            ...corpus
              .getConversation(conversationId)
              .listChildren(id)
              .map((turn) => turn.id),
          );
        }
        expect([query.anchorTurnId, query.conversationId]).toEqual([null, undefined]);
      }
    });

    test('no line of a query repeats what its past has', () => {
      for (const query of dataset.queries) {
        const past = readPast(dataset, query);
        const runs = new Set(past.flatMap(({ text }) => listRuns(text)));
        for (const line of query.text.split('\n')) {
          const shared = listRuns(line).filter((run) => runs.has(run));
          expect(shared, `${line} for ${query.id}`).toEqual([]);
        }
        const texts = past.map(({ text }) => listWords(text).join(' '));
        expect(texts).not.toContain(listWords(query.text).join(' '));
      }
    });

    test.runIf(hasVersions)('no other version of a query is in its past', () => {
      for (const query of dataset.queries) {
        const own = dataset.corpus.getTurn(query.turnId as string);
        const versions = readPast(dataset, query).filter(
          ({ conversationId, parentId, author }) =>
            conversationId === own.conversationId && parentId === own.parentId && author === own.author,
        );
        expect(versions, query.id).toEqual([]);
      }
    });
  });
}
