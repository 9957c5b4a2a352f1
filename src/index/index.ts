/** Texts to unit vectors, candidate indexes, and the concept graph. */

export type { Encoder } from '../model/encoder.ts';
export type { VectorIndex } from '../model/vector-index.ts';
export { listVisibleTurns } from './candidates/query-batch.ts';
export { createEncoder, encoderOptions } from './encoders/registry.ts';
export { ConceptGraph, nameConceptNode } from './graph/concept-graph.ts';
export { GraphMoment, listConcepts } from './graph/graph-moment.ts';
export { MomentScorer } from './graph/moment-scoring.ts';
export { buildWalkableGraph } from './graph/walkable-graph.ts';
export { createIndex } from './registry.ts';
export { openVectorIndex } from './vectors/registry.ts';
