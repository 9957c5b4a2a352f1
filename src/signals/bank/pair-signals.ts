import type { Corpus } from '../../model/corpus.ts';
import { entityOverlap } from '../../text/entities.ts';
import type { AskedQuery } from './asked-query.ts';
import type { Sessions } from './sessions.ts';
import type { ThreadTables } from './thread-tables.ts';
import type { TurnForms } from './turn-forms.ts';

const HOUR = 3_600_000;
const HALF_LIVES = [1, 6, 24, 96, 720] as const;

/** What signals of pairs are made from. */
export interface PairTables {
  readonly corpus: Corpus;
  readonly sessions: Sessions;
  readonly threads: ThreadTables;
  readonly forms: TurnForms;
  /** [N] the words of each turn that may name somebody. */
  readonly words: readonly ReadonlySet<string>[];
}

/** What a candidate is to a query, by its position in the scope, which is before the query's cutoff. */
type PairSignal = (asked: AskedQuery, position: number, tables: PairTables) => number;

const flag = (is: boolean) => (is ? 1 : 0);
const hours = (from: number, to: number) => Math.max(0, to - from) / HOUR;

function age({ query }: AskedQuery, position: number, { corpus }: PairTables): number {
  return hours(corpus.timestamps[position] as number, query.timestamp);
}

function quietFor({ query, cutoff }: AskedQuery, position: number, { corpus, threads }: PairTables): number {
  return hours(corpus.timestamps[threads.newest(position, cutoff)] as number, query.timestamp);
}

function authorOf({ corpus }: PairTables, position: number): string | null {
  return corpus.turns[position]?.author ?? null;
}

const FORM: Record<string, PairSignal> = {
  length: (_, position, { forms }) => forms.length[position] as number,
  question: (_, position, { forms }) => forms.question[position] as number,
  answer: (_, position, { forms }) => forms.answer[position] as number,
  number: (_, position, { forms }) => forms.number[position] as number,
  times: (_, position, { forms }) => forms.times[position] as number,
  names: (_, position, { forms }) => forms.names[position] as number,
  'time asked': ({ kind }, position, { forms }) => (kind === 'time' ? (forms.times[position] as number) : 0),
  'number asked': ({ kind }, position, { forms }) => (kind === 'number' ? (forms.number[position] as number) : 0),
  'name asked': ({ kind }, position, { forms }) => (kind === 'person-or-place' ? (forms.names[position] as number) : 0),
  entities: ({ entities }, position, { forms }) =>
    entityOverlap(entities, forms.entities[position] as ReadonlySet<string>),
};

const TIME: Record<string, PairSignal> = {
  age: (asked, position, tables) => Math.log1p(age(asked, position, tables)),
  'age rank': ({ cutoff }, position) => Math.log(cutoff - position),
  newest: ({ cutoff }, position) => 1 / (cutoff - position),
  ...Object.fromEntries(
    HALF_LIVES.map((halfLife): [string, PairSignal] => [
      `decay-${halfLife}h`,
      (asked, position, tables) => 0.5 ** (age(asked, position, tables) / halfLife),
    ]),
  ),
  place: ({ cutoff }, position) => (position + 1) / cutoff,
  'time named': ({ ranges }, position, { corpus }) => {
    const moment = corpus.timestamps[position] as number;
    return flag(ranges.some(({ from, to }) => from <= moment && moment < to));
  },
};

const THREAD: Record<string, PairSignal> = {
  depth: (_, position, { threads }) => Math.log1p(threads.depth[position] as number),
  root: (_, position, { corpus }) => flag(corpus.parent[position] === -1),
  children: ({ cutoff }, position, { threads }) => Math.log1p(threads.children(position, cutoff)),
  leaf: ({ cutoff }, position, { threads }) => flag(threads.children(position, cutoff) === 0),
  last: ({ cutoff }, position, { threads }) => flag(threads.newest(position, cutoff) === position),
  'thread size': ({ cutoff }, position, { threads }) => Math.log(threads.size(position, cutoff)),
  'thread quiet': (asked, position, tables) => Math.log1p(quietFor(asked, position, tables)),
  ...Object.fromEntries(
    HALF_LIVES.map((halfLife): [string, PairSignal] => [
      `thread-decay-${halfLife}h`,
      (asked, position, tables) => 0.5 ** (quietFor(asked, position, tables) / halfLife),
    ]),
  ),
  'behind last': ({ cutoff }, position, { corpus, threads }) =>
    Math.log1p(threads.size(position, cutoff) - 1 - (corpus.ringPosition[position] as number)),
  'session begin': (_, position, { sessions }) => 1 / (1 + (sessions.placeOf[position] as number)),
};

const CHANNEL: Record<string, PairSignal> = {
  channel: ({ query }, position, { corpus }) =>
    flag(query.channel !== null && corpus.turns[position]?.channel === query.channel),
};

const AUTHOR: Record<string, PairSignal> = {
  'author named': ({ named }, position, tables) => {
    const author = authorOf(tables, position);
    return flag(author !== null && named.has(author));
  },
  'author alone named': ({ named }, position, tables) => {
    const author = authorOf(tables, position);
    return flag(author !== null && named.size === 1 && named.has(author));
  },
  'own turn': ({ query }, position, tables) =>
    flag(query.author !== null && authorOf(tables, position) === query.author),
  'spoke in thread': ({ query, cutoff }, position, { threads }) =>
    flag(query.author !== null && threads.hasSpoken(query.author, position, cutoff)),
  'answers own turn': ({ query }, position, tables) => {
    const parent = tables.corpus.parent[position] as number;
    return flag(query.author !== null && parent >= 0 && authorOf(tables, parent) === query.author);
  },
  'already answered': ({ query, cutoff }, position, { threads }) =>
    flag(query.author !== null && threads.isAnsweredBy(query.author, position, cutoff)),
  'names asker': ({ askerNames }, position, { words }) => flag(askerNames.some((name) => words[position]?.has(name))),
  speakers: ({ cutoff }, position, { threads }) => Math.log1p(threads.speakers(position, cutoff)),
};

/** Signals of pairs that need no score of another turn, by what they look at. */
export const PAIR_SIGNALS = { form: FORM, time: TIME, thread: THREAD, channel: CHANNEL, author: AUTHOR } as const;
export type PairGroup = keyof typeof PAIR_SIGNALS;
