import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { SampleWorld } from './corpus.fixture.ts';

/**
 * The formulas of ARCHITECTURE.md, "An arm", written out in float64 for one query and one candidate at a time. Slow, and independent: what is to be tested is not
 * used here.
 */

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const listLetterWords = (text: string): readonly string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];
const compareIdBytes = (a: Turn, b: Turn) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));

/** The turns that a query may see, in time order. */
export function listVisibleTurns({ turns }: SampleWorld, query: Query): Turn[] {
  return turns
    .filter((turn) => turn.timestamp < query.timestamp)
    .sort((a, b) => a.timestamp - b.timestamp || compareIdBytes(a, b));
}

/** Lucene's BM25 with k1 = 1.2 and b = 0.75, on the statistics of the past. */
export function computeTurnBm25(world: SampleWorld, query: Query, turn: Turn): number {
  const texts = listVisibleTurns(world, query).map(({ text }) => listLetterWords(text));
  const average = sum(texts.map((words) => words.length)) / texts.length;
  const own = listLetterWords(turn.text);
  return sum(
    listLetterWords(query.text).map((word) => {
      const frequency = texts.filter((words) => words.includes(word)).length;
      const count = own.filter((other) => other === word).length;
      const idf = Math.log(1 + (texts.length - frequency + 0.5) / (frequency + 0.5));
      return (idf * count) / (count + 1.2 * (0.25 + (0.75 * own.length) / average));
    }),
  );
}

/** 0 where either vector is zero. */
export function cosine({ vectorOf }: SampleWorld, a: { readonly id: string }, b: { readonly id: string }): number {
  const [u, v] = [vectorOf.get(a.id), vectorOf.get(b.id)] as [Float32Array, Float32Array];
  const product = sum(Array.from(u, (value, i) => value * (v[i] as number)));
  return product === 0 ? 0 : product / Math.hypot(...u) / Math.hypot(...v);
}

/** A conversation as it would be if the query were its next turn. */
interface Thread {
  readonly turns: readonly Turn[];
  /** Where the query hangs. */
  readonly parent: Turn;
}

export function buildVisibleThread(world: SampleWorld, query: Query, { conversationId }: Turn): Thread {
  const turns = listVisibleTurns(world, query).filter((turn) => turn.conversationId === conversationId);
  const anchor = turns.find(({ id }) => id === query.anchorTurnId);
  return { turns, parent: anchor ?? (turns.at(-1) as Turn) };
}

/** The turns of a thread as they stand on its ring. */
function listRingTurns(world: SampleWorld, query: Query, turn: Turn): readonly Turn[] {
  const { turns } = buildVisibleThread(world, query, turn);
  return world.order?.(turns) ?? turns;
}

type Coordinates = Readonly<Record<string, number>>;

/** Of every member of the thread and of the query, by id; without complexity, which is a count that a language model makes. */
export function computePlainCoordinates(
  world: SampleWorld,
  query: Query,
  { turns, parent }: Thread,
): Map<string, Coordinates> {
  const all = [...turns, { ...query, parentId: parent.id }];
  const findParentTurn = (id: string | null) => all.find((turn) => turn.id === id);
  const countTreeDepth = (turn: (typeof all)[number]): number => {
    const above = findParentTurn(turn.parentId);
    return above === undefined ? 0 : 1 + countTreeDepth(above);
  };
  const countTurnSiblings = (turn: (typeof all)[number]) => all.filter(({ parentId }) => parentId === turn.parentId);
  const countTurnChildren = (turn: (typeof all)[number]) => all.filter(({ parentId }) => parentId === turn.id).length;
  const findMost = (figure: (turn: (typeof all)[number]) => number) => Math.max(...all.map(figure));
  const [first] = turns as [Turn];
  return new Map(
    all.map((turn) => {
      const above = findParentTurn(turn.parentId);
      const group = countTurnSiblings(turn);
      const values = {
        depth: countTreeDepth(turn) / findMost(countTreeDepth),
        siblingOrder: group.indexOf(turn) / Math.max(group.length - 1, 1),
        homogeneity: above === undefined ? 1 : Math.max(0, Math.min(1, cosine(world, turn, above))),
        temporal: (turn.timestamp - first.timestamp) / (query.timestamp - first.timestamp),
        branchFactor: group.length / findMost((other) => countTurnSiblings(other).length),
        childrenCount: countTurnChildren(turn) / findMost(countTurnChildren),
      };
      return [turn.id, values];
    }),
  );
}

/** `sqrt(sum w (p - q)^2)`, of time alone in a thread of fewer than 5 turns. */
export function computeOracleDistance(world: SampleWorld, query: Query, turn: Turn, weights: Coordinates): number {
  const thread = buildVisibleThread(world, query, turn);
  const coordinates = computePlainCoordinates(world, query, thread);
  const [p, q] = [coordinates.get(turn.id), coordinates.get(query.id)] as [Coordinates, Coordinates];
  const counted = Object.entries(weights).filter(([name]) => thread.turns.length >= 5 || name === 'temporal');
  return Math.sqrt(sum(counted.map(([name, weight]) => weight * ((p[name] as number) - (q[name] as number)) ** 2)));
}

/** The paper's multiplicative logit with decay 0.5 and temperature 0.1. */
const computeOracleLogit = (similarity: number, distance: number) =>
  (Math.exp(-0.5 * distance) * (1 + similarity)) / 2 / 0.1;

function softmax(logits: readonly number[]): number[] {
  const total = sum(logits.map(Math.exp));
  return logits.map((value) => Math.exp(value) / total);
}

/** How a turn's vector takes in its thread: the paper's settings, and the framework's. */
export const PROPAGATION = {
  published: { beta: 0.3, self: true, logit: computeOracleLogit },
  framework: {
    beta: 0.5,
    self: false,
    logit: (similarity: number, distance: number) => (1 + similarity) / 2 - distance,
  },
} as const;

/** Cosine of the query to what a turn's vector had become when the query was asked. */
export function computePropagatedCosine(
  world: SampleWorld,
  query: Query,
  turn: Turn,
  settings: (typeof PROPAGATION)[keyof typeof PROPAGATION],
): number {
  const turns = listRingTurns(world, query, turn);
  const findTurnIndex = (id: string) => turns.findIndex((other) => other.id === id);
  const keys = turns.filter(({ id }) => settings.self || id !== turn.id);
  const weights = softmax(
    keys.map((key) => {
      const steps = Math.abs(findTurnIndex(key.id) - findTurnIndex(turn.id));
      return settings.logit(cosine(world, turn, key), Math.min(steps, turns.length - steps));
    }),
  );
  const getWorldVector = (id: string) => world.vectorOf.get(id) as Float32Array;
  const blended = getWorldVector(turn.id).map((own, i) => {
    const around = sum(keys.map(({ id }, k) => (weights[k] as number) * (getWorldVector(id)[i] as number)));
    return (1 - settings.beta) * own + settings.beta * around;
  });
  return cosine({ ...world, vectorOf: new Map([...world.vectorOf, ['blended', blended]]) }, query, { id: 'blended' });
}

/** The query's attention over its candidates by ring distance, each in its own thread. */
export function computeOracleRcp(world: SampleWorld, query: Query, candidates: readonly Turn[]): number[] {
  const logits = candidates.map((turn) => {
    const turns = listRingTurns(world, query, turn);
    const steps = turns.length - turns.findIndex(({ id }) => id === turn.id);
    return computeOracleLogit(cosine(world, query, turn), Math.min(steps, turns.length + 1 - steps));
  });
  return softmax(logits);
}

/** What falls on the query of each candidate's attention over what comes after it, itself included. */
export function computeOracleIrcp(world: SampleWorld, query: Query, candidates: readonly Turn[]): number[] {
  return candidates.map((turn) => {
    const turns = listRingTurns(world, query, turn);
    const place = turns.findIndex(({ id }) => id === turn.id);
    const keys = [...turns.slice(place), query];
    const ring = turns.length + 1;
    const logits = keys.map((key, step) => computeOracleLogit(cosine(world, turn, key), Math.min(step, ring - step)));
    return softmax(logits).at(-1) as number;
  });
}

/** Attention by trajectory distance. */
export function computeOracleTpo(
  world: SampleWorld,
  query: Query,
  candidates: readonly Turn[],
  weights: Coordinates,
): number[] {
  return softmax(
    candidates.map((turn) =>
      computeOracleLogit(cosine(world, query, turn), computeOracleDistance(world, query, turn, weights)),
    ),
  );
}
