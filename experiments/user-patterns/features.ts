import { multiplyRows } from '../../src/core/tensors/rows.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import type { Entrance } from './entrances.ts';

const DAY = 86_400_000;
/** Numbers of nearest earlier turns that a candidate is compared with. */
export const NEAREST = [1, 5, 50] as const;
/** Days after which the weight of a message is 1 / e. */
export const AGES = [0.25, 1, 3] as const;

/** The person's own history. */
export const OWN = 'own';

/** Values of the candidates of an entrance, [C] each. */
export interface EntranceFeatures {
  readonly entrance: Entrance;
  /** For each of {@link AGES}. */
  readonly newness: readonly Float64Array[];
  /** Cosine with the text of the entrance. */
  readonly words: Float64Array;
  /** By {@link OWN} or the name of a null control. */
  readonly histories: Readonly<Record<string, HistoryFeatures>>;
}

/** What earlier turns of a person say of each candidate, [C] each. */
export interface HistoryFeatures {
  /** For each of {@link NEAREST}: the mean cosine with the nearest earlier turns. */
  readonly topics: readonly Float64Array[];
  /** How often the earlier turns answer the author of the candidate: ln(1 + n), 1 for the most often answered candidate. */
  readonly partners: Float64Array;
}

function compareTopics(candidates: Int32Array, history: Int32Array, vectors: Float32Array, dimension: number) {
  const cosines = Array.from(candidates, (candidate) =>
    Float64Array.from(history, (earlier) => multiplyRows(vectors, candidate, vectors, earlier, dimension))
      .sort()
      .reverse(),
  );
  return NEAREST.map((nearest) =>
    Float64Array.from(cosines, (sorted) => {
      const best = sorted.subarray(0, nearest);
      return best.reduce((sum, cosine) => sum + cosine, 0) / best.length;
    }),
  );
}

function countPartners(candidates: Int32Array, history: Int32Array, corpus: Corpus): Float64Array {
  const counts = new Map<string | null, number>();
  for (const position of history) {
    const { parentId } = corpus.turns[position] as Turn;
    const author = parentId === null ? null : corpus.getTurn(parentId).author;
    if (author !== null) counts.set(author, (counts.get(author) ?? 0) + 1);
  }
  const values = Float64Array.from(candidates, (message) =>
    Math.log(1 + (counts.get((corpus.turns[message] as Turn).author) ?? 0)),
  );
  const most = values.reduce((max, value) => Math.max(max, value), 0);
  return most === 0 ? values : values.map((value) => value / most);
}

/** The values of every candidate. Reads nothing later than the entrance, but for the text of the entrance itself. */
export function computeFeatures(
  entrance: Entrance,
  corpus: Corpus,
  { vectors, dimension }: { readonly vectors: Float32Array; readonly dimension: number },
): EntranceFeatures {
  const { candidates, position } = entrance;
  const { timestamp } = corpus.turns[position] as Turn;
  const ages = Float64Array.from(
    candidates,
    (message) => (timestamp - (corpus.turns[message] as Turn).timestamp) / DAY,
  );
  const describe = (history: Int32Array): HistoryFeatures => ({
    topics: compareTopics(candidates, history, vectors, dimension),
    partners: countPartners(candidates, history, corpus),
  });
  return {
    entrance,
    newness: AGES.map((days) => ages.map((age) => Math.exp(-age / days))),
    words: Float64Array.from(candidates, (message) => multiplyRows(vectors, position, vectors, message, dimension)),
    histories: Object.fromEntries(
      Object.entries({ [OWN]: entrance.own, ...entrance.others }).map(([name, turns]) => [name, describe(turns)]),
    ),
  };
}
