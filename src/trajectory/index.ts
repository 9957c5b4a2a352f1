/** The place of a turn in its conversation: coordinates at a given time, distances, time decay. */

export { countComponents, countComponentsOf } from './complexity.ts';
export { type ConversationTree, type TreeAsOf, treesOf } from './conversation-tree.ts';
export {
  COORDINATES,
  type ComplexityScale,
  type CoordinateName,
  type CoordinateWeights,
  coordinateWeights,
  DEFAULT_WEIGHTS,
  type Dimensions,
} from './coordinate-names.ts';
export {
  type CoordinateOptions,
  type TrajectoryCoordinates,
  type TurnFeatures,
  trajectoryCoordinates,
} from './coordinates.ts';
export { type FrameTables, frameTables } from './frame-tables.ts';
export { homogeneities } from './homogeneity.ts';
export { COLD_START_TURNS, type QueryFrames, type QueryPoints, queryFrames } from './query-frames.ts';
export { agesInHours, timeDecay } from './time-decay.ts';
export { pairwiseTrajectoryDistance, trajectoryDistance } from './trajectory-distance.ts';
