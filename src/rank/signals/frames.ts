import type { FrameTables } from '../../ops/trajectory/frame-tables.ts';
import type { QueryFrames, QueryPoints } from '../../ops/trajectory/query-frames.ts';
import { defineStage, type Setting, type StageUse, type World } from './signal.ts';
import type { TrajectoryOptions } from './trajectory-options.ts';
import { COORDINATE_SOURCES } from './worlds/world-parts.ts';

export const turnComponents = defineStage({
  name: 'turn-components',
  module: import.meta.url,
  of: 'turns',
  reads: ['texts'],
  compute: async ({ world }, _: null) =>
    (await import('./placed-frames.ts')).countComponents(
      world.corpus.turns.map(({ text }) => text),
      world.startProgress,
    ),
});

const queryComponents = defineStage({
  name: 'query-components',
  module: import.meta.url,
  of: 'queries',
  reads: ['texts'],
  compute: async ({ world }, _: null) =>
    (await import('./placed-frames.ts')).countComponents(world.batch.texts, world.startProgress),
});

/** What trajectory coordinates are computed from. */
export async function prepareFrameSources(
  world: World,
): Promise<{ readonly tables: FrameTables; readonly points: QueryPoints }> {
  const { buildTurnTables, buildQueryPoints } = await import('./placed-frames.ts');
  const tables = await buildTurnTables(world, await world.get(turnComponents(null)));
  return { tables, points: buildQueryPoints(world, await world.get(queryComponents(null))) };
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
  compute: async ({ world, pool, inputs }, options) =>
    (await import('./placed-frames.ts')).placeFrames(world, pool, inputs, options),
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
  compute: async ({ world, pool, inputs: { frames } }): Promise<QueryFrames> =>
    (await import('./placed-frames.ts')).moveFrames(world, pool, frames),
});

/** Coordinates and ring geometry of every pair, as of the query's moment, in the world of the setting. */
export function pairFrames(options: FrameOptions, { control }: Pick<Setting, 'control'>): StageUse<QueryFrames> {
  const moves = control?.kind === 'permuted-order' || control?.kind === 'shuffled-coordinates';
  return moves ? movedFrames(options) : placedFrames(options);
}
