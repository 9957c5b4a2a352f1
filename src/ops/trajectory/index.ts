/** The place of a turn in its conversation: coordinates at a given time, distances, time decay. */

export { countComponents, countTextComponents } from './complexity.ts';
export { type ConversationTree, createTreesAsOf, type TreeAsOf } from './conversation-tree.ts';
export {
  COORDINATES,
  type ComplexityScale,
  type CoordinateName,
  type CoordinateWeights,
  DEFAULT_WEIGHTS,
  type Dimensions,
  listCoordinateWeights,
} from './coordinate-names.ts';
export {
  type CoordinateOptions,
  computeTrajectoryCoordinates,
  type TrajectoryCoordinates,
  type TurnFeatures,
} from './coordinates.ts';
export { buildFrameTables, type FrameTables } from './frame-tables.ts';
export { computeHomogeneities } from './homogeneity.ts';
export { COLD_START_TURNS, computeQueryFrames, type QueryFrames, type QueryPoints } from './query-frames.ts';
export { computeAgesHours, timeDecay } from './time-decay.ts';
export { pairwiseTrajectoryDistance, trajectoryDistance } from './trajectory-distance.ts';
