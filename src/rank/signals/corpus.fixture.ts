import { createRandom, type Random } from '../../core/numbers/random.ts';
import { openWordTokens } from '../../index/encoders/word-tokens.fixture.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { Workspace, type WorkspaceInputs } from './workspace.ts';

export const DIMENSION = 17;
export const HOUR_MILLISECONDS = 3_600_000;
const START = Date.UTC(2024, 0, 1);
const WORDS =
  'we you must can should see send paid broke fixed wrote read London Berlin Mary Ahmed server kernel patch invoice train garden soup lentils bread yeast yesterday tomorrow ten quickly not to because which old new red green slow warm'.split(
    ' ',
  );

/** Turns, queries and a vector for the id of each, as plain rows that a test may alter. */
export interface SampleWorld {
  readonly turns: readonly Turn[];
  readonly queries: readonly Query[];
  /** [DIMENSION] each, of length 1 or zero. */
  readonly vectorOf: ReadonlyMap<string, Float32Array>;
  /** How the turns of a thread stand on its ring; in time order where it is left out. */
  readonly order?: (turns: readonly Turn[]) => readonly Turn[];
}

/** Sentences of 3 to 23 words, the first ones of the list the most frequent. */
export function drawSampleText(source: Random): string {
  const words = Array.from(
    { length: 3 + source.integer(21) },
    () => WORDS[Math.floor(WORDS.length * source.uniform() ** 1.7)] as string,
  );
  return words.map((word, i) => (i % 7 === 6 ? `${word}.` : word)).join(' ');
}

/** Of length 1, somewhere around `centre`. */
export function drawSampleVector(source: Random, centre: Float32Array = new Float32Array(DIMENSION)): Float32Array {
  const vector = Float32Array.from(centre, (value) => value + 0.2 * source.drawNormal());
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Attributes by the id alone, so that the draws of the rest do not depend on them; two turns of seven have none. */
function describeAttributes(id: string): Pick<Turn, 'attributes'> {
  const number = [...id].reduce((sum, character) => sum + (character.codePointAt(0) as number), 0);
  if (number % 7 < 2) return {};
  const memoryType = ['summary', 'procedural', 'episodic'][number % 3] as string;
  return { attributes: { outcome: (number % 5) / 4, importance: (number % 9) / 8, memoryType, useCount: number % 4 } };
}

/** A turn that answers an earlier one of its conversation, rather a late one, or none. */
export function drawSampleTurn(
  source: Random,
  id: string,
  timestamp: number,
  conversations: number,
  earlier: readonly Turn[],
): Turn {
  const conversationId = `c${source.integer(conversations)}`;
  const parents = earlier.filter((turn) => turn.conversationId === conversationId);
  const recent = Math.floor(parents.length * source.uniform() ** 2);
  const parent = source.uniform() < 0.15 ? undefined : parents[parents.length - 1 - recent];
  const channel = ['kitchen', 'bakery', null][source.integer(3)] as string | null;
  return {
    id,
    conversationId,
    parentId: parent?.id ?? null,
    timestamp,
    author: null,
    channel,
    text: drawSampleText(source),
    ...describeAttributes(id),
  };
}

function drawSampleQuery(source: Random, number: number, turns: readonly Turn[]): Query {
  // Some at the very moment of a turn, which they must not see.
  const around = turns[Math.floor(turns.length * (0.1 + 0.9 * source.uniform()))] as Turn;
  const timestamp = around.timestamp + source.integer(2) * (HOUR_MILLISECONDS / 7);
  const earlier = turns.filter((turn) => turn.timestamp < timestamp);
  const anchor = source.uniform() < 0.4 ? (earlier[source.integer(earlier.length)] as Turn) : null;
  return {
    id: `q${number}`,
    text: drawSampleText(source),
    timestamp,
    anchorTurnId: anchor?.id ?? null,
    author: null,
    channel: ['kitchen', 'bakery', null][source.integer(3)] as string | null,
    split: number % 2 === 0 ? 'dev' : 'test',
    cluster: around.conversationId,
  };
}

/**
 * A made-up corpus: trees and forests of several conversations at a time, ids in no order, many turns at one moment, a turn without a direction.
 *
 * @param turnCount at least 20
 */
export function drawSampleWorld(seed: number, turnCount = 103, queryCount = 11, conversations = 7): SampleWorld {
  const source = createRandom(seed, 'sample-corpus');
  const numbers = source.shuffle(Array.from({ length: turnCount }, (_, i) => i));
  const turns: Turn[] = [];
  let timestamp = START;
  for (const number of numbers) {
    timestamp += Math.max(0, source.integer(5) - 2) * HOUR_MILLISECONDS;
    turns.push(drawSampleTurn(source, `${number % 3 === 0 ? 'é' : 't'}${number}`, timestamp, conversations, turns));
  }
  const queries = Array.from({ length: queryCount }, (_, number) => drawSampleQuery(source, number, turns));
  queries.sort((a, b) => a.timestamp - b.timestamp);
  const centres = Array.from({ length: conversations }, () => drawSampleVector(source));
  const vectorOf = new Map<string, Float32Array>();
  for (const { id, conversationId } of turns)
    vectorOf.set(id, drawSampleVector(source, centres[Number(conversationId.slice(1))]));
  for (const { id, cluster } of queries) vectorOf.set(id, drawSampleVector(source, centres[Number(cluster.slice(1))]));
  vectorOf.set((turns[13] as Turn).id, new Float32Array(DIMENSION));
  return { turns, queries, vectorOf };
}

/** The caller disposes it. */
export function createSampleWorkspace(
  { turns, queries, vectorOf }: SampleWorld,
  stages?: NonNullable<WorkspaceInputs['stages']>,
  slices?: NonNullable<WorkspaceInputs['slices']>,
): Workspace {
  const corpus = new Corpus(turns);
  const concatWorldVectors = (ids: readonly { readonly id: string }[]) =>
    Float32Array.from(ids.flatMap(({ id }) => [...(vectorOf.get(id) as Float32Array)]));
  return new Workspace({
    corpus,
    queries,
    turnVectors: concatWorldVectors(corpus.turns),
    queryVectors: concatWorldVectors(queries),
    dimension: DIMENSION,
    seed: 5,
    openTokens: openWordTokens,
    ...(stages === undefined ? {} : { stages }),
    ...(slices === undefined ? {} : { slices }),
  });
}
