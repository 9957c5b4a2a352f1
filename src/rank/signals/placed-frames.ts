import { createRandom } from '../../core/numbers/random.ts';
import { letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { Query } from '../../model/dataset.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { countTextComponents } from '../../ops/trajectory/complexity.ts';
import type { TreeAsOf } from '../../ops/trajectory/conversation-tree.ts';
import { type CorpusFrames, type FrameTables, openFrames } from '../../ops/trajectory/frame-tables.ts';
import { computeQueryFrames, type QueryFrames, type QueryPoints } from '../../ops/trajectory/query-frames.ts';
import { keepParts, type World } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import type { CandidatePool, PoolRows } from './stage.ts';
import { drawPermutedOrder, orderParentsFirst, permuteFrames } from './worlds/permuted-order.ts';
import { drawRewiredTrees } from './worlds/rewired-graph.ts';

/** For each place of a pool the place of the same query whose coordinates it gets; padding stays where it is. */
function drawShuffledPairs({ positions, width }: PoolRows, queries: readonly Query[], seed: number): Int32Array {
  const pairs = Int32Array.from(positions, (_, pair) => pair);
  for (const [query, { id }] of queries.entries()) {
    const row = positions.subarray(query * width, (query + 1) * width);
    const occupied = row.filter((position) => position >= 0).length; // the padding is at the end
    const taken = createRandom(seed, `shuffled-coordinates/${id}`).shuffle(
      Array.from({ length: occupied }, (_, slot) => slot),
    );
    for (const [slot, other] of taken.entries()) pairs[query * width + slot] = query * width + other;
  }
  return pairs;
}

/**
 * Null control `shuffled-coordinates`: each query's candidates exchange their coordinates at random. What goes from one
 * candidate to another is all that a trajectory distance is made of, the query's coordinates in the candidate's
 * conversation and the cold start included. So each query keeps exactly its distances, and no turn of another moment,
 * and none that the query may not see, affects them. Only the assignment of distances to candidates is lost. (An
 * exchange between all turns of the corpus would bring coordinates of other moments, and neither property would hold.)
 */
export function shuffleFrames(
  frames: QueryFrames,
  pool: PoolRows,
  queries: readonly Query[],
  seed: number,
): QueryFrames {
  const pairs = drawShuffledPairs(pool, queries, seed);
  const size = frames.names.length;
  const movePairs = (values: Float32Array) =>
    values.map((_, i) => values[(pairs[Math.floor(i / size)] as number) * size + (i % size)] as number);
  return {
    ...frames,
    candidates: movePairs(frames.candidates),
    queries: movePairs(frames.queries),
    coldStart: frames.coldStart.map((_, pair) => frames.coldStart[pairs[pair] as number] as number),
  };
}

/**
 * Null control `random-parents`: each turn that answers another answers any of the earlier turns of its conversation
 * instead, all being equally likely. Roots stay roots, and a query stays where it is.
 *
 * @returns [N] positions, -1 for a root. Later turns do not affect the parent of a turn.
 */
export function drawRandomParents(corpus: Corpus, seed: number): Int32Array {
  const parent = corpus.parent.slice();
  for (const [conversation, order] of orderParentsFirst(corpus).entries()) {
    const source = createRandom(seed, `random-parents/${(corpus.conversations[conversation] as Conversation).id}`);
    for (const [ringPosition, position] of order.entries())
      if ((parent[position] as number) >= 0) parent[position] = order[source.integer(ringPosition)] as number;
  }
  return parent;
}

/** Texts between two looks at the event loop, about 0.1 s. */
const TEXTS_AT_ONCE = 100;

/** The number of semantic components of each text. */
export async function countComponents(texts: readonly string[], progress: StartProgress): Promise<Int32Array> {
  const stage = progress('trajectory', texts.length);
  const components = new Int32Array(texts.length);
  for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
    components.set(countTextComponents(texts.slice(start, start + TEXTS_AT_ONCE)), start);
    stage.update(start);
    await letEventsIn();
  }
  stage.finish(`${texts.length} texts`);
  return components;
}

/** The frames of the turns, a conversation's made once for all queries. @param components [N] */
export async function openWorldFrames({ shared }: World, components: Int32Array): Promise<CorpusFrames> {
  return shared.keepOnce('frames of turns', async () => {
    const kept = await keepParts<FrameTables>(shared, 'frame tables');
    return openFrames(shared.corpus, shared.turnVectors, components, { kept });
  });
}

/** What the coordinates of the queries are computed from. */
export function buildQueryPoints({ corpus, queries, batch }: World, components: Int32Array): QueryPoints {
  return {
    timestamps: Float64Array.from(queries, ({ timestamp }) => timestamp),
    components,
    vectors: batch.vectors,
    anchors: Int32Array.from(queries, ({ anchorTurnId }) =>
      anchorTurnId === null ? -1 : corpus.getPosition(anchorTurnId),
    ),
  };
}

/** Who answers whom as of any moment, in this world. */
function buildWorldTrees(world: World, frames: CorpusFrames, components: Int32Array): TreeAsOf {
  const { corpus, turnVectors, control } = world;
  if (control?.kind === 'rewired-graph') return drawRewiredTrees(frames, world.controlSeed(control));
  if (control?.kind !== 'random-parents') return frames.tables;
  const parent = drawRandomParents(corpus, world.controlSeed(control));
  const findParents = (conversation: number) =>
    frames.positions(conversation).map((position) => {
      const above = parent[position] as number;
      return above < 0 ? -1 : (corpus.ringPosition[above] as number);
    });
  return openFrames(corpus, turnVectors, components, { findParents }).tables;
}

/**
 * Coordinates and ring geometry of every pair, before a control moves a part of them.
 *
 * @param components of the texts.
 */
export async function placeFrames(
  world: World,
  pool: CandidatePool,
  components: { readonly turns: Int32Array; readonly queries: Int32Array },
  { dimensions, complexityScale }: Pick<TrajectoryOptions, 'dimensions' | 'complexityScale'>,
): Promise<QueryFrames> {
  const frames = await openWorldFrames(world, components.turns);
  const points = buildQueryPoints(world, components.queries);
  const trees = buildWorldTrees(world, frames, components.turns);
  return computeQueryFrames(frames, points, pool.positions, { dimensions, complexityScale, trees });
}

/** Frames of which the control of a world moves a part from pair to pair, or on the ring. */
export function moveFrames(world: World, pool: CandidatePool, frames: QueryFrames): QueryFrames {
  const { corpus, queries, control } = world;
  if (control === null) return frames;
  const seed = world.controlSeed(control);
  if (control.kind === 'shuffled-coordinates') return shuffleFrames(frames, pool, queries, seed);
  return permuteFrames(frames, pool.positions, corpus, drawPermutedOrder(corpus, seed));
}
