/** Graphs of memories and concepts: random walks that start at the results of a query. */

export { DENSE_NODES, DenseTensorPageRank } from '../../ops/pagerank/dense-tensor-pagerank.ts';
export { HostPageRank } from '../../ops/pagerank/host-pagerank.ts';
export {
  createPageRankSolver,
  PAGERANK_SOLVERS,
  type PageRankSolverInput,
  type PageRankSolverName,
  type PageRankSolverOptions,
  pageRankOptions,
} from '../../ops/pagerank/pagerank-registry.ts';
export type {
  PageRankOptions,
  PageRankResult,
  PageRankSettings,
  PageRankSolver,
} from '../../ops/pagerank/pagerank-solver.ts';
export { PushPageRank } from '../../ops/pagerank/push-pagerank.ts';
export type { SeedSet } from '../../ops/pagerank/seed-distribution.ts';
export { SparseTensorPageRank } from '../../ops/pagerank/sparse-tensor-pagerank.ts';
export {
  buildTransitionMatrix,
  buildTransitionsFromEdges,
  type TransitionMatrix,
  type WeightedEdges,
} from '../../ops/pagerank/transition-matrix.ts';
export {
  type ConceptEdge,
  ConceptGraph,
  type ConceptNode,
  type GraphMemory,
  type NearForms,
  nameConceptNode,
  nameMemoryNode,
} from './concept-graph.ts';
export { EDGE_KINDS, type EdgeKind } from './edge-kinds.ts';
export {
  type ConceptFile,
  type ConceptFileHeader,
  type ConceptLine,
  readConceptFile,
} from './extraction/concept-file.ts';
export type { ConceptFileSource, ConceptSource } from './extraction/concept-source.ts';
export { type ExtractedConcepts, type ExtractionContext, extractConcepts } from './extraction/extract-concepts.ts';
export { type ExtractionOptions, extractionOptions } from './extraction/extraction-options.ts';
export type { Fact, FactClosing, FactEdge, FactMoments } from './fact-edge.ts';
export { FactGraph, type FactNeighbour } from './fact-graph.ts';
export { type FormAlias, FormAliases } from './form-aliases.ts';
export { GraphMoment, type MomentOptions, type VisibleMemories } from './graph-moment.ts';
export { listConcepts, type TextConceptSource } from './list-concepts.ts';
export { type GraphScoringOptions, MomentScorer, type NodeSeeds } from './moment-scoring.ts';
export {
  buildWalkableGraph,
  type EdgeWeights,
  TemporalAdjacency,
  type TimedEdges,
  type WalkableGraph,
} from './temporal-adjacency.ts';
