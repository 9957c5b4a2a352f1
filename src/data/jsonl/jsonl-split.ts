import type { Query, Split } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { findTestStart, isDev, type Start } from '../prepared/splits.ts';
import type { QueryRow } from './jsonl-rows.ts';

/** The queries made from rows. */
export interface SplitQueries {
  /** In the order of the rows. */
  readonly queries: readonly Query[];
  readonly devConversations: ReadonlySet<string>;
}

/**
 * Splits the queries into dev and test. With a split in the rows: as given, and a conversation is dev if it starts before the first test query
 * and no test query belongs to it. Without: by conversations, the first 70 % by time of first turn are dev; a query follows its conversation, or its own
 * time without a conversation.
 *
 * @param rows all with a split, or all without.
 */
export function splitQueries(corpus: Corpus, rows: readonly QueryRow[]): SplitQueries {
  const starts = corpus.conversations.map(({ id, turns }) => ({ id, timestamp: (turns[0] as Turn).timestamp }));
  const homes = rows.map((row) => row.conversationId ?? findAnchorConversation(corpus, row));
  const given = rows.some((row) => row.split !== undefined);
  const first = findTestStart(starts);
  const devConversations = given ? chooseDevAsGiven(starts, rows, homes) : chooseDevByStart(starts, first);
  const chooseRowSplit = (row: QueryRow, home: string | null): Split => {
    if (row.split !== undefined) return row.split;
    if (home !== null) return devConversations.has(home) ? 'dev' : 'test';
    return isDev({ id: row.id, timestamp: row.timestamp }, first) ? 'dev' : 'test';
  };
  const queries = rows.map((row, i): Query => {
    const { conversationId: _, cluster, kind, generator: __, sources: ___, ...rest } = row;
    const home = homes[i] ?? null;
    return {
      ...rest,
      ...(kind === undefined ? {} : { kind }),
      split: chooseRowSplit(row, home),
      cluster: cluster ?? home ?? row.id,
    };
  });
  return { queries, devConversations };
}

function findAnchorConversation(corpus: Corpus, { anchorTurnId }: QueryRow): string | null {
  return anchorTurnId === null ? null : corpus.getTurn(anchorTurnId).conversationId;
}

function chooseDevByStart(starts: readonly Start[], first: Start | null): Set<string> {
  return new Set(starts.filter((start) => isDev(start, first)).map(({ id }) => id));
}

function chooseDevAsGiven(
  starts: readonly Start[],
  rows: readonly QueryRow[],
  homes: readonly (string | null)[],
): Set<string> {
  const test = rows.filter((row) => row.split === 'test');
  const firstTest = test.reduce((first, { timestamp }) => Math.min(first, timestamp), Number.POSITIVE_INFINITY);
  const closed = new Set(homes.filter((_, i) => rows[i]?.split === 'test'));
  return new Set(starts.filter(({ id, timestamp }) => timestamp < firstTest && !closed.has(id)).map(({ id }) => id));
}
