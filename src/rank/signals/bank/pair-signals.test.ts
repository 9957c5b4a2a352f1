import { beforeAll, describe, expect, test } from 'vitest';
import type { Query } from '../../../model/dataset.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { SIGNAL_GROUPS } from './options.ts';
import { listPairSignals, type PairGroup } from './pair-signals.ts';
import { readAskedQuery } from './query-rows.ts';
import { buildQueryAt, HOUR_MILLISECONDS, START, TURNS } from './small-threads.fixture.ts';
import { SubcorpusTables } from './subcorpus-tables.ts';

/** A candidate, and the turns that the query may see in time order. */
interface Pair {
  readonly query: Query;
  readonly turn: Turn;
  readonly past: readonly Turn[];
}
type Formula = (pair: Pair) => number;

const is = (condition: boolean) => Number(condition);
const countHoursTo = ({ query }: Pair, { timestamp }: Turn) => (query.timestamp - timestamp) / HOUR_MILLISECONDS;
const listThreadTurns = ({ past, turn }: Pair) =>
  past.filter(({ conversationId }) => conversationId === turn.conversationId);
const findNewestTurn = (pair: Pair) => listThreadTurns(pair).at(-1) as Turn;
const listAnswers = ({ past, turn }: Pair) => past.filter(({ parentId }) => parentId === turn.id);
const countTurnsBehind = ({ past, turn }: Pair) => past.length - past.indexOf(turn);
const findPairParent = ({ turn }: Pair) => TURNS.find(({ id }) => id === turn.parentId);
const countTurnAncestors = (turn: Turn | undefined): number =>
  turn?.parentId == null ? 0 : 1 + countTurnAncestors(TURNS.find(({ id }) => id === turn.parentId));

/** Words, expressions of time and named things of each turn, counted by hand. */
const FORMS: Readonly<Record<string, readonly [number, number, readonly string[]]>> = {
  a0: [4, 0, []],
  b0: [1, 0, []],
  a1: [4, 0, ['3']],
  a2: [4, 0, []],
  c0: [9, 1, ['mary', 'london', '5', '2023']],
  a3: [4, 0, []],
  b1: [2, 0, []],
  a4: [3, 0, []],
  c1: [3, 0, ['mary']],
  a5: [4, 0, []],
  a6: [4, 0, []],
};
const getExpectedForm = ({ turn }: Pair) => FORMS[turn.id] as (typeof FORMS)[string];
const computeTimesForm = (pair: Pair) => Math.log(1 + getExpectedForm(pair)[1]);
const computeNamesForm = (pair: Pair) => Math.log(1 + getExpectedForm(pair)[2].length);
const hasDigits = ({ turn }: Pair) => is(/\d/.test(turn.text));

/** Queries with what they ask for, whom and when they name. */
interface Asked {
  readonly query: Query;
  readonly kind: string;
  readonly entities: readonly string[];
  readonly named: readonly string[];
  /** Hours from the start. */
  readonly range?: readonly [number, number];
}
const ASKED: readonly Asked[] = [
  {
    query: buildQueryAt(10, { channel: 'list', author: 'Ann Lee', text: 'When did Mary come to London?' }),
    kind: 'time',
    entities: ['mary', 'london'],
    named: [],
  },
  {
    query: buildQueryAt(14, { author: 'Bo', channel: null, text: 'how many spoons, ann?' }),
    kind: 'number',
    entities: [],
    named: ['Ann Lee'],
  },
  // Dora has not spoken yet.
  {
    query: buildQueryAt(11, { author: 'Dora', channel: 'chat', text: 'who is with bo and dora?' }),
    kind: 'person-or-place',
    entities: [],
    named: ['Bo'],
  },
  {
    query: buildQueryAt(8.5, { text: 'what did bo and cy say on 1 January 2024' }),
    kind: 'other',
    entities: ['1', 'january', '2024'],
    named: ['Bo', 'Cy'],
    range: [0, 24],
  },
  {
    query: buildQueryAt(30, { text: 'soup on 5 May 2023?' }),
    kind: 'other',
    entities: ['5', '2023'],
    named: [],
    range: [-5784, -5760],
  },
];
const findAsked = ({ query }: Pair) => ASKED.find((asked) => asked.query === query) as Asked;
const computeSharedPart = (parts: readonly string[], whole: readonly string[]) => {
  return parts.length === 0 ? 0 : parts.filter((part) => whole.includes(part)).length / parts.length;
};
const whenKindIs =
  (kind: string, value: Formula): Formula =>
  (pair) =>
    findAsked(pair).kind === kind ? value(pair) : 0;
const buildDecays = (context: string, age: Formula) =>
  Object.fromEntries(
    [1, 6, 24, 96, 720].map((half): [string, Formula] => [
      `decay.${half}h${context}`,
      (pair) => 0.5 ** (age(pair) / half),
    ]),
  );
const countQuietHours: Formula = (pair) => countHoursTo(pair, findNewestTurn(pair));
const listSessionTurns = ({ past, turn }: Pair) =>
  past.filter((other) => other.conversationId === turn.conversationId && other.channel === turn.channel);
const getAsker = ({ query }: Pair) => query.author;

const FORMULAS: Readonly<Record<PairGroup, Readonly<Record<string, Formula>>>> = {
  form: {
    'form.length': (pair) => Math.log(1 + getExpectedForm(pair)[0]),
    'form.question': ({ turn }) => is(turn.text.endsWith('?')),
    'form.answer': (pair) => {
      const session = listSessionTurns(pair);
      const before = session[session.indexOf(pair.turn) - 1];
      return is(before?.text.endsWith('?') === true && before.author !== pair.turn.author);
    },
    'form.number': hasDigits,
    'form.times': computeTimesForm,
    'form.names': computeNamesForm,
    'form.times@asked': whenKindIs('time', computeTimesForm),
    'form.number@asked': whenKindIs('number', hasDigits),
    'form.names@asked': whenKindIs('person-or-place', computeNamesForm),
    'coverage.entities': (pair) => computeSharedPart(findAsked(pair).entities, getExpectedForm(pair)[2]),
  },
  time: {
    age: (pair) => Math.log(1 + countHoursTo(pair, pair.turn)),
    'rank.age': (pair) => Math.log(countTurnsBehind(pair)),
    'rank.newest': (pair) => 1 / countTurnsBehind(pair),
    ...buildDecays('', (pair) => countHoursTo(pair, pair.turn)),
    recency: ({ past, turn }) => (past.indexOf(turn) + 1) / past.length,
    'time.named': (pair) => {
      const hour = (pair.turn.timestamp - START) / HOUR_MILLISECONDS;
      const { range } = findAsked(pair);
      return is(range !== undefined && range[0] <= hour && hour < range[1]);
    },
  },
  thread: {
    'thread.depth': ({ turn }) => Math.log(1 + countTurnAncestors(turn)),
    'thread.root': ({ turn }) => is(turn.parentId === null),
    'thread.children': (pair) => Math.log(1 + listAnswers(pair).length),
    'thread.leaf': (pair) => is(listAnswers(pair).length === 0),
    'thread.last': (pair) => is(findNewestTurn(pair) === pair.turn),
    'thread.size': (pair) => Math.log(listThreadTurns(pair).length),
    'age@thread': (pair) => Math.log(1 + countQuietHours(pair)),
    ...buildDecays('@thread', countQuietHours),
    'rank.age@thread': (pair) => Math.log(listThreadTurns(pair).length - listThreadTurns(pair).indexOf(pair.turn)),
    'session.begin': (pair) => 1 / (1 + listSessionTurns(pair).indexOf(pair.turn)),
  },
  channel: {
    channel: ({ query, turn }) => is(query.channel !== null && query.channel === turn.channel),
  },
  author: {
    'author.named': (pair) => is(findAsked(pair).named.includes(pair.turn.author ?? '')),
    'author.only-named': (pair) => is(findAsked(pair).named.join() === pair.turn.author),
    'author.asker': (pair) => is(getAsker(pair) !== null && pair.turn.author === getAsker(pair)),
    'author.asker@thread': (pair) =>
      is(getAsker(pair) !== null && listThreadTurns(pair).some(({ author }) => author === getAsker(pair))),
    'author.asker@parent': (pair) => is(getAsker(pair) !== null && findPairParent(pair)?.author === getAsker(pair)),
    'author.asker@children': (pair) =>
      is(getAsker(pair) !== null && listAnswers(pair).some(({ author }) => author === getAsker(pair))),
    'asker.named': ({ query, turn }) => {
      const first = query.author?.toLowerCase().split(' ')[0];
      return is(first !== undefined && turn.text.toLowerCase().split(/\W+/).includes(first));
    },
    'thread.speakers': (pair) =>
      Math.log(1 + new Set(listThreadTurns(pair).flatMap(({ author }) => author ?? [])).size),
  },
};

const corpus = new Corpus(TURNS);
let tables: SubcorpusTables;
beforeAll(async () => {
  tables = await SubcorpusTables.of(corpus, SIGNAL_GROUPS);
});

test('there is a formula for every signal, and no other', () => {
  const listGroupNames = (signals: Readonly<Record<string, object>>) =>
    Object.entries(signals).map(([group, all]) => [group, Object.keys(all)]);
  expect(listGroupNames(listPairSignals())).toEqual(listGroupNames(FORMULAS));
});

const cases = Object.entries(FORMULAS).flatMap(([group, formulas]) =>
  Object.entries(formulas).map(([name, formula]) => [group as PairGroup, name, formula] as const),
);

describe.each(cases)('%s, %s', (group, name, formula) => {
  test.each(ASKED.map((asked) => [asked.query.text, asked] as const))('as %j sees it', (_, { query }) => {
    const cutoff = TURNS.filter(({ timestamp }) => timestamp < query.timestamp).length;
    const asked = readAskedQuery(query, cutoff, tables.authors);
    const past = TURNS.slice(0, cutoff);
    for (const [position, turn] of past.entries()) {
      const signal = listPairSignals()[group][name];
      expect(signal?.score(asked, position, tables), turn.id).toBeCloseTo(formula({ query, turn, past }), 6);
    }
  });
});

test('every signal tells some candidates from others', () => {
  for (const [, name, formula] of cases) {
    const values = ASKED.flatMap(({ query }) => {
      const past = TURNS.filter(({ timestamp }) => timestamp < query.timestamp);
      return past.map((turn) => formula({ query, turn, past }));
    });
    expect(new Set(values).size, name).toBeGreaterThan(1);
  }
});
