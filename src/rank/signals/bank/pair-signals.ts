import { once } from '../../../core/values/once.ts';
import { computeEntityOverlap } from '../../../model/text/entities.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { Sessions } from '../../../model/turns/sessions.ts';
import type { WorldPart } from '../worlds/world-parts.ts';
import type { AskedQuery } from './query-rows.ts';
import type { ThreadTables } from './thread-tables.ts';
import type { TurnForms } from './turn-forms.ts';

const HOUR_MILLISECONDS = 3_600_000;
const HALF_LIVES_HOURS = [1, 6, 24, 96, 720] as const;

/** What signals of pairs are made from. */
export interface PairTables {
  readonly corpus: Corpus;
  readonly sessions: Sessions;
  readonly threads: ThreadTables;
  readonly forms: TurnForms;
  /** [N] the words of each turn that may name somebody. */
  readonly words: readonly ReadonlySet<string>[];
}

/** What a candidate is to a query, by its position in the subcorpus, which is before the query's cutoff. */
type PairScore = (asked: AskedQuery, position: number, tables: PairTables) => number;

/** A signal of pairs that needs no score of another turn. */
interface PairSignal {
  /** The row of docs/signals.md. */
  readonly summary: string;
  readonly reads: readonly WorldPart[];
  readonly score: PairScore;
}

function pair(summary: string, reads: readonly WorldPart[], score: PairScore): PairSignal {
  return { summary, reads, score };
}

const toFlag = (is: boolean) => (is ? 1 : 0);
const countHoursBetween = (from: number, to: number) => Math.max(0, to - from) / HOUR_MILLISECONDS;

function computeAgeHours({ query }: AskedQuery, position: number, { corpus }: PairTables): number {
  return countHoursBetween(corpus.timestamps[position] as number, query.timestamp);
}

function computeQuietHours({ query, cutoff }: AskedQuery, position: number, { corpus, threads }: PairTables): number {
  return countHoursBetween(corpus.timestamps[threads.findNewestBefore(position, cutoff)] as number, query.timestamp);
}

function readAuthor({ corpus }: PairTables, position: number): string | null {
  return corpus.turns[position]?.author ?? null;
}

const buildForm = (): Readonly<Record<string, PairSignal>> => ({
  'form.length': pair('ln(1 + words)', ['texts'], (_, position, { forms }) => forms.length[position] as number),
  'form.question': pair(
    '1 if it has a question mark',
    ['texts'],
    (_, position, { forms }) => forms.question[position] as number,
  ),
  'form.answer': pair(
    '1 if the turn before it in its session has one; with the group `author`, if that turn has another author',
    ['texts'],
    (_, position, { forms }) => forms.answer[position] as number,
  ),
  'form.number': pair('1 if it has a digit', ['texts'], (_, position, { forms }) => forms.number[position] as number),
  'form.times': pair(
    'ln(1 + expressions of time)',
    ['texts'],
    (_, position, { forms }) => forms.times[position] as number,
  ),
  'form.names': pair(
    'ln(1 + distinct named things: titles, names, numbers)',
    ['texts'],
    (_, position, { forms }) => forms.names[position] as number,
  ),
  'form.times@asked': pair('`form.times` if the query asks when, else 0', ['texts'], ({ kind }, position, { forms }) =>
    kind === 'time' ? (forms.times[position] as number) : 0,
  ),
  'form.number@asked': pair('`form.number` if it asks how many', ['texts'], ({ kind }, position, { forms }) =>
    kind === 'number' ? (forms.number[position] as number) : 0,
  ),
  'form.names@asked': pair('`form.names` if it asks who or where', ['texts'], ({ kind }, position, { forms }) =>
    kind === 'person-or-place' ? (forms.names[position] as number) : 0,
  ),
  'coverage.entities': pair(
    'share of the named things of the query that the turn names too',
    ['texts'],
    ({ entities }, position, { forms }) =>
      computeEntityOverlap(entities, forms.entities[position] as ReadonlySet<string>),
  ),
});

const buildTime = (): Readonly<Record<string, PairSignal>> => ({
  age: pair('ln(1 + hours before the query)', ['times', 'clock'], (asked, position, tables) =>
    Math.log1p(computeAgeHours(asked, position, tables)),
  ),
  'rank.age': pair('ln(1 + turns between it and the query)', ['times'], ({ cutoff }, position) =>
    Math.log(cutoff - position),
  ),
  'rank.newest': pair(
    '1 / (1 + turns between it and the query)',
    ['times'],
    ({ cutoff }, position) => 1 / (cutoff - position),
  ),
  ...Object.fromEntries(
    HALF_LIVES_HOURS.map((halfLifeHours) => [
      `decay.${halfLifeHours}h`,
      pair(
        `0.5^(age / ${halfLifeHours} hours)`,
        ['times', 'clock'],
        (asked, position, tables) => 0.5 ** (computeAgeHours(asked, position, tables) / halfLifeHours),
      ),
    ]),
  ),
  recency: pair(
    'its position among the turns before the query, from 0 to 1 for the newest',
    ['times'],
    ({ cutoff }, position) => (position + 1) / cutoff,
  ),
  'time.named': pair(
    '1 if its time is a time that the query names',
    ['texts', 'times', 'clock'],
    ({ ranges }, position, { corpus }) => {
      const moment = corpus.timestamps[position] as number;
      return toFlag(ranges.some(({ from, to }) => from <= moment && moment < to));
    },
  ),
});

const buildThread = (): Readonly<Record<string, PairSignal>> => ({
  'thread.depth': pair('ln(1 + turns above it)', ['replies', 'times'], (_, position, { threads }) =>
    Math.log1p(threads.depth[position] as number),
  ),
  'thread.root': pair('1 if it answers none', ['replies', 'times'], (_, position, { corpus }) =>
    toFlag(corpus.parent[position] === -1),
  ),
  'thread.children': pair(
    'ln(1 + answers to it before the query)',
    ['replies', 'times'],
    ({ cutoff }, position, { threads }) => Math.log1p(threads.countChildrenBefore(position, cutoff)),
  ),
  'thread.leaf': pair('1 if it had no answer', ['replies', 'times'], ({ cutoff }, position, { threads }) =>
    toFlag(threads.countChildrenBefore(position, cutoff) === 0),
  ),
  'thread.last': pair(
    '1 if it was the newest of its conversation',
    ['replies', 'times'],
    ({ cutoff }, position, { threads }) => toFlag(threads.findNewestBefore(position, cutoff) === position),
  ),
  'thread.size': pair(
    'ln(turns of its conversation before the query)',
    ['replies', 'times'],
    ({ cutoff }, position, { threads }) => Math.log(threads.countThreadTurns(position, cutoff)),
  ),
  'age@thread': pair(
    'ln(1 + hours since the newest of its conversation)',
    ['replies', 'times', 'clock'],
    (asked, position, tables) => Math.log1p(computeQuietHours(asked, position, tables)),
  ),
  ...Object.fromEntries(
    HALF_LIVES_HOURS.map((halfLifeHours) => [
      `decay.${halfLifeHours}h@thread`,
      pair(
        `0.5^(the same hours / ${halfLifeHours})`,
        ['replies', 'times', 'clock'],
        (asked, position, tables) => 0.5 ** (computeQuietHours(asked, position, tables) / halfLifeHours),
      ),
    ]),
  ),
  'rank.age@thread': pair(
    'ln(1 + later turns of its conversation)',
    ['replies', 'times'],
    ({ cutoff }, position, { corpus, threads }) =>
      Math.log1p(threads.countThreadTurns(position, cutoff) - 1 - (corpus.ringPosition[position] as number)),
  ),
  'session.begin': pair(
    '1 / (1 + turns before it in its session)',
    ['replies', 'times'],
    (_, position, { sessions }) => 1 / (1 + (sessions.stepOf[position] as number)),
  ),
});

const buildChannel = (): Readonly<Record<string, PairSignal>> => ({
  channel: pair("1 if the query has a channel and it is the turn's", ['replies'], ({ query }, position, { corpus }) =>
    toFlag(query.channel !== null && corpus.turns[position]?.channel === query.channel),
  ),
});

const buildAuthor = (): Readonly<Record<string, PairSignal>> => ({
  'author.named': pair('1 if the query names its author', ['texts'], ({ named }, position, tables) => {
    const author = readAuthor(tables, position);
    return toFlag(author !== null && named.has(author));
  }),
  'author.only-named': pair(
    '1 if the query names its author and no other earlier author',
    ['texts'],
    ({ named }, position, tables) => {
      const author = readAuthor(tables, position);
      return toFlag(author !== null && named.size === 1 && named.has(author));
    },
  ),
  'author.asker': pair('1 if the asker is its author', [], ({ query }, position, tables) =>
    toFlag(query.author !== null && readAuthor(tables, position) === query.author),
  ),
  'author.asker@thread': pair(
    '1 if the asker is the author of an earlier turn of its conversation',
    ['replies', 'times'],
    ({ query, cutoff }, position, { threads }) =>
      toFlag(query.author !== null && threads.hasSpoken(query.author, position, cutoff)),
  ),
  'author.asker@parent': pair(
    '1 if it answers a turn of the asker',
    ['replies', 'texts'],
    ({ query }, position, tables) => {
      const parent = tables.corpus.parent[position] as number;
      return toFlag(query.author !== null && parent >= 0 && readAuthor(tables, parent) === query.author);
    },
  ),
  'author.asker@children': pair(
    '1 if the asker had answered it',
    ['replies', 'texts'],
    ({ query, cutoff }, position, { threads }) =>
      toFlag(query.author !== null && threads.isAnsweredBy(query.author, position, cutoff)),
  ),
  'asker.named': pair('1 if it names the asker', ['texts'], ({ askerNames }, position, { words }) =>
    toFlag(askerNames.some((name) => words[position]?.has(name))),
  ),
  'thread.speakers': pair(
    'ln(1 + authors of its conversation before the query)',
    ['replies', 'times'],
    ({ cutoff }, position, { threads }) => Math.log1p(threads.countSpeakers(position, cutoff)),
  ),
});

/** Signals of pairs that need no score of another turn, by what they look at. */
export const listPairSignals = once(() => ({
  form: buildForm(),
  time: buildTime(),
  thread: buildThread(),
  channel: buildChannel(),
  author: buildAuthor(),
}));
export type PairGroup = keyof ReturnType<typeof listPairSignals>;
