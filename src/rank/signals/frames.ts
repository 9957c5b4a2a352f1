import type { StartProgress } from '../../core/terminal/progress.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import { countTextComponents } from '../../ops/trajectory/complexity.ts';
import { createTreesAsOf, type TreeAsOf } from '../../ops/trajectory/conversation-tree.ts';
import { buildFrameTables, type FrameTables } from '../../ops/trajectory/frame-tables.ts';
import { computeQueryFrames, type QueryFrames, type QueryPoints } from '../../ops/trajectory/query-frames.ts';
import { defineStage, type Setting, type StageUse, type World } from './signal.ts';
import type { TrajectoryOptions } from './trajectory-options.ts';
import { drawPermutedOrder, permuteFrames } from './worlds/permuted-order.ts';
import { drawRandomParents } from './worlds/random-parents.ts';
import { drawRewiredTrees } from './worlds/rewired-graph.ts';
import { shuffleFrames } from './worlds/shuffled-coordinates.ts';
import { COORDINATE_SOURCES } from './worlds/world-parts.ts';

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

export const turnComponents = defineStage({
  name: 'turn-components',
  module: import.meta.url,
  of: 'turns',
  reads: ['texts'],
  compute: ({ world }, _: null) =>
    countComponents(
      world.corpus.turns.map(({ text }) => text),
      world.startProgress,
    ),
});

const queryComponents = defineStage({
  name: 'query-components',
  module: import.meta.url,
  of: 'queries',
  reads: ['texts'],
  compute: ({ world }, _: null) => countComponents(world.batch.texts, world.startProgress),
});

/** What the coordinates of the turns are computed from, once for all queries. */
async function buildTurnTables({ shared }: World, components: Int32Array): Promise<FrameTables> {
  return shared.keepOnce('frame tables', () => buildFrameTables(shared.corpus, shared.turnVectors, components));
}

/** What the coordinates of the queries are computed from. */
function buildQueryPoints({ corpus, queries, batch }: World, components: Int32Array): QueryPoints {
  return {
    timestamps: Float64Array.from(queries, ({ timestamp }) => timestamp),
    components,
    vectors: batch.vectors,
    anchors: Int32Array.from(queries, ({ anchorTurnId }) =>
      anchorTurnId === null ? -1 : corpus.getPosition(anchorTurnId),
    ),
  };
}

/** What trajectory coordinates are computed from. */
export async function prepareFrameSources(
  world: World,
): Promise<{ readonly tables: FrameTables; readonly points: QueryPoints }> {
  const tables = await buildTurnTables(world, await world.get(turnComponents(null)));
  return { tables, points: buildQueryPoints(world, await world.get(queryComponents(null))) };
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

/** What frames are made of the options for. */
export type FrameOptions = Pick<TrajectoryOptions, 'dimensions' | 'complexityScale'>;

/** Coordinates and ring geometry of every pair, as of the query's moment, before candidates exchange theirs. */
const placedFrames = defineStage({
  name: 'frames',
  module: import.meta.url,
  of: 'pairs',
  reads: COORDINATE_SOURCES,
  key: ({ dimensions, complexityScale }: FrameOptions) => [dimensions, complexityScale],
  inputs: () => ({ turns: turnComponents(null), queries: queryComponents(null) }),
  compute: async ({ world, pool, inputs }, { dimensions, complexityScale }) => {
    const tables = await buildTurnTables(world, inputs.turns);
    const points = buildQueryPoints(world, inputs.queries);
    const trees = buildWorldTrees(world, tables);
    return computeQueryFrames(tables, points, pool.positions, { dimensions, complexityScale, trees });
  },
});

/** Frames of which a control moves a part from pair to pair, or on the ring. */
const movedFrames = defineStage({
  name: 'controlled-frames',
  module: import.meta.url,
  of: 'pairs',
  isKept: false,
  reads: [...COORDINATE_SOURCES, 'order', 'coordinates'],
  key: () => null,
  inputs: (options: FrameOptions) => ({ frames: placedFrames(options) }),
  compute: ({ world, pool, inputs: { frames } }): QueryFrames => {
    const { corpus, queries, control } = world;
    if (control === null) return frames;
    const seed = world.controlSeed(control);
    if (control.kind === 'shuffled-coordinates') return shuffleFrames(frames, pool, queries, seed);
    return permuteFrames(frames, pool.positions, corpus, drawPermutedOrder(corpus, seed));
  },
});

/** Coordinates and ring geometry of every pair, as of the query's moment, in the world of the setting. */
export function pairFrames(options: FrameOptions, { control }: Pick<Setting, 'control'>): StageUse<QueryFrames> {
  const moves = control?.kind === 'permuted-order' || control?.kind === 'shuffled-coordinates';
  return moves ? movedFrames(options) : placedFrames(options);
}
