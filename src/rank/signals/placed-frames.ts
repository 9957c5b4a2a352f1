import type { StartProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import { countTextComponents } from '../../ops/trajectory/complexity.ts';
import { createTreesAsOf, type TreeAsOf } from '../../ops/trajectory/conversation-tree.ts';
import { buildFrameTables, type FrameTables } from '../../ops/trajectory/frame-tables.ts';
import { computeQueryFrames, type QueryFrames, type QueryPoints } from '../../ops/trajectory/query-frames.ts';
import type { CandidatePool } from './candidate-pool.ts';
import type { World } from './signal.ts';
import type { TrajectoryOptions } from './trajectory-options.ts';
import { drawPermutedOrder, permuteFrames } from './worlds/permuted-order.ts';
import { drawRandomParents } from './worlds/random-parents.ts';
import { drawRewiredTrees } from './worlds/rewired-graph.ts';
import { shuffleFrames } from './worlds/shuffled-coordinates.ts';

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

/** What the coordinates of the turns are computed from, once for all queries. */
export async function buildTurnTables({ shared }: World, components: Int32Array): Promise<FrameTables> {
  return shared.keepOnce('frame tables', () => buildFrameTables(shared.corpus, shared.turnVectors, components));
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
function buildWorldTrees(world: World, tables: FrameTables): TreeAsOf {
  const { corpus, turnVectors, control } = world;
  if (control?.kind === 'rewired-graph') return drawRewiredTrees(tables, world.controlSeed(control));
  if (control?.kind !== 'random-parents') return createTreesAsOf(tables);
  return createTreesAsOf(
    buildFrameTables(corpus, turnVectors, tables.components, drawRandomParents(corpus, world.controlSeed(control))),
  );
}

/** Coordinates and ring geometry of every pair, before a control moves a part of them. @param components of the texts. */
export async function placeFrames(
  world: World,
  pool: CandidatePool,
  components: { readonly turns: Int32Array; readonly queries: Int32Array },
  { dimensions, complexityScale }: Pick<TrajectoryOptions, 'dimensions' | 'complexityScale'>,
): Promise<QueryFrames> {
  const tables = await buildTurnTables(world, components.turns);
  const points = buildQueryPoints(world, components.queries);
  const trees = buildWorldTrees(world, tables);
  return computeQueryFrames(tables, points, pool.positions, { dimensions, complexityScale, trees });
}

/** Frames of which the control of a world moves a part from pair to pair, or on the ring. */
export function moveFrames(world: World, pool: CandidatePool, frames: QueryFrames): QueryFrames {
  const { corpus, queries, control } = world;
  if (control === null) return frames;
  const seed = world.controlSeed(control);
  if (control.kind === 'shuffled-coordinates') return shuffleFrames(frames, pool, queries, seed);
  return permuteFrames(frames, pool.positions, corpus, drawPermutedOrder(corpus, seed));
}
