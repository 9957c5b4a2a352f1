import { getOrCompute } from '../../core/once.ts';
import { lowerBound } from '../../model/corpus.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turn.ts';
import type { Stratum } from './result.ts';

const HOUR = 3_600_000;

/** A way to divide queries. */
interface Division {
  readonly name: string;
  readonly description: string;
  /** In order; without a list, those of the queries. */
  readonly levels: readonly string[] | null;
  /** @param target the newest relevant turn. */
  levelOf(query: Query, target: Turn): string;
}

/** Names of the levels and the least value of each, ascending. */
type Bins = readonly (readonly [name: string, least: number])[];

function binOf(bins: Bins, value: number): string {
  return (bins.findLast(([, least]) => value >= least) ?? (bins[0] as Bins[number]))[0];
}

const DEPTHS: Bins = [
  ['0', 0],
  ['1', 1],
  ['2', 2],
  ['3 to 5', 3],
  ['6 and deeper', 6],
];
const SIZES: Bins = [
  ['1', 1],
  ['2 to 5', 2],
  ['6 to 20', 6],
  ['21 to 100', 21],
  ['over 100', 101],
];
const AGES: Bins = [
  ['under an hour', 0],
  ['under a day', HOUR],
  ['under a week', 24 * HOUR],
  ['a week and older', 7 * 24 * HOUR],
];

function binned(name: string, description: string, bins: Bins, measure: (query: Query, target: Turn) => number) {
  const levels = bins.map(([level]) => level);
  return { name, description, levels, levelOf: (query: Query, target: Turn) => binOf(bins, measure(query, target)) };
}

/** Counts the turns of a conversation before a moment; the times of each conversation are laid out once. */
function turnsBefore({ corpus }: Dataset): (conversationId: string, moment: number) => number {
  const times = new Map<string, Float64Array>();
  return (id, moment) => {
    const timesOf = () => Float64Array.from(corpus.conversation(id).turns, ({ timestamp }) => timestamp);
    return lowerBound(getOrCompute(times, id, timesOf), moment);
  };
}

function divisionsOf(dataset: Dataset): readonly Division[] {
  const { corpus } = dataset;
  const sizeBefore = turnsBefore(dataset);
  const conversationOf = ({ turnId, anchorTurnId }: Query, target: Turn) =>
    corpus.turn(turnId ?? anchorTurnId ?? target.id).conversationId;
  const depthOf = (id: string) => corpus.conversation(corpus.turn(id).conversationId).depth(id);
  return [
    {
      name: 'kind',
      description: 'what sort of query it is, as the dataset says',
      levels: null,
      levelOf: ({ kind }) => kind ?? 'not said',
    },
    binned(
      'depth',
      'edges from the root to the turn that the query is, or to its newest relevant turn where it is none',
      DEPTHS,
      ({ turnId }, target) => depthOf(turnId ?? target.id),
    ),
    binned(
      'thread size',
      'turns that the conversation (of the query, or of its newest relevant turn) held before the query',
      SIZES,
      (query, target) => sizeBefore(conversationOf(query, target), query.timestamp),
    ),
    binned(
      'age of the target',
      'time from the newest relevant turn to the query',
      AGES,
      ({ timestamp }, target) => timestamp - target.timestamp,
    ),
  ];
}

/** The newest relevant turn of a query that has one. */
function targetOf({ corpus, qrels, relevantGrade }: Dataset, { id }: Query): Turn {
  const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade);
  const newest = Math.max(...relevant.map(([turnId]) => corpus.position(turnId)));
  return corpus.turns[newest] as Turn;
}

/**
 * Divides queries by their kind, depth, the size of their thread and the age of what they look for, all as of the query's moment. What decides the level is
 * never shown to a scorer.
 *
 * @param queries all with a relevant turn.
 * @returns the divisions that have queries in at least two levels, without the empty levels; queries by their place.
 */
export function strataOf(dataset: Dataset, queries: readonly Query[]): Stratum[] {
  const targets = queries.map((query) => targetOf(dataset, query));
  return divisionsOf(dataset).flatMap(({ name, description, levels, levelOf }) => {
    const places = new Map<string, number[]>((levels ?? []).map((level) => [level, []]));
    for (const [place, query] of queries.entries()) {
      const level = levelOf(query, targets[place] as Turn);
      places.set(level, [...(places.get(level) ?? []), place]);
    }
    const filled = [...places].filter(([, held]) => held.length > 0);
    if (levels === null) filled.sort(([a], [b]) => (a < b ? -1 : 1));
    if (filled.length < 2) return [];
    return [{ name, description, levels: filled.map(([level, held]) => ({ name: level, queries: held })) }];
  });
}
