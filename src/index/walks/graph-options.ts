import { z } from 'zod';
import { candidateCount, type IndexDefinition } from '../candidates/index-definition.ts';
import { conceptFileSource } from '../graph/extraction/concept-source.ts';

const edgeWeight = z.number().min(0);

/** Solvers of PageRank: those of ops/pagerank, and `auto`, which chooses one for each batch of queries. */
export const GRAPH_SOLVERS = ['push', 'host', 'sparse-tensor', 'dense-tensor', 'auto'] as const;
export type GraphSolver = (typeof GRAPH_SOLVERS)[number];

/** The smallest error of scores that sum to 1 that float32 can distinguish. */
export const TENSOR_TOLERANCE = 1e-7;

const keys = z.strictObject({
  index: z.literal('graph'),
  k: candidateCount,
  /** What a concept of a turn or a query is: see `listConcepts`; or a file with those of turns. */
  concepts: z.union([z.enum(['names', 'phrases']), conceptFileSource]).default('names'),
  /** Where the walks of a query start. */
  seeds: z
    .strictObject({
      /** The best turns that the other sources of the arm found. */
      turns: z.int().min(0).default(10),
      /** What the weights of these turns follow: their ranks in the lists, or their scores as shares of the largest of each list. */
      weights: z.enum(['ranks', 'scores']).default('ranks'),
      /** The concepts of the query. */
      concepts: z.boolean().default(true),
      /** The turns whose titles the query holds. */
      titles: z.boolean().default(false),
      /** The concepts of the seed turns. */
      turnConcepts: z.boolean().default(false),
    })
    .prefault({}),
  /** What an edge of each kind counts; 0 leaves the kind out. */
  edges: z
    .strictObject({
      mentions: edgeWeight.default(1),
      names: edgeWeight.default(1),
      /** What an edge of names counts from the turn that is named to the one that names it. */
      namedBy: edgeWeight.default(1),
      similar: edgeWeight.default(0),
      reply: edgeWeight.default(1),
      next: edgeWeight.default(1),
      cooccurrence: edgeWeight.default(0),
      relation: edgeWeight.default(0),
      alias: edgeWeight.default(0),
    })
    .prefault({}),
  /** What the specificity of a concept multiplies: its weight as a seed, edges (its mentions, and names by how many name a turn), both or nothing. */
  specificity: z.enum(['seeds', 'edges', 'both', 'none']).default('seeds'),
  scoring: z.enum(['pagerank', 'hop-decay', 'degree']).default('pagerank'),
  /** Solver of pagerank; absent in a resolved config that takes `push`. */
  solver: z.enum(GRAPH_SOLVERS).optional(),
  /** Of pagerank: the probability of following an edge rather than returning to the seeds. */
  damping: z.number().min(0).lt(1).default(0.5),
  /** Of pagerank: the error of a score, divided by the weight of the node's edges, that may remain. */
  tolerance: z.number().min(1e-15).lt(1).default(1e-6),
  /** Of hop-decay: what each hop multiplies by. */
  decay: z.number().positive().default(0.6),
  /** Of hop-decay and degree. */
  maxHops: z.int().min(0).default(2),
  /** The weight of the best seed turn, where a concept that one turn mentions weighs 1. */
  passageWeight: z.number().min(0).default(0.05),
  /** The least cosine of similar turns. */
  similarAbove: z.number().min(-1).max(1).default(0.8),
  /** The least similarity of two spellings of a concept. */
  aliasAbove: z.number().positive().max(1).default(0.4),
  /** The least cosine of two forms that count as spellings too, by the encoder of the arm; null: vectors are not compared. */
  aliasCosine: z.number().positive().max(1).nullable().default(null),
});
const options = keys
  .refine(({ concepts, edges }) => edges.relation === 0 || typeof concepts !== 'string', {
    path: ['edges', 'relation'],
    error: '0 without triples; set concepts: { file }',
  })
  .refine(({ solver = 'push', scoring }) => solver === 'push' || scoring === 'pagerank', {
    path: ['solver'],
    error: 'push unless scoring is pagerank, which the other solvers compute; leave solver out',
  })
  .refine(({ solver = 'push', tolerance }) => !solver.endsWith('tensor') || tolerance >= TENSOR_TOLERANCE, {
    path: ['tolerance'],
    error: `at least ${TENSOR_TOLERANCE} with a solver of tensors, which are float32; raise it, or set solver: host`,
  });
/** The index `graph` of a config: where walks start, what they follow, and how turns are scored around the seeds. */
export type GraphIndexOptions = z.output<typeof options>;

/** The options that spellings by vectors depend on. */
export interface ConceptVectorOptions {
  readonly edges: Pick<GraphIndexOptions['edges'], 'alias'>;
  readonly aliasCosine: number | null;
}

/** True if spellings of concepts are found by vectors too. */
export function needsConceptVectors({ edges, aliasCosine }: ConceptVectorOptions): boolean {
  return edges.alias > 0 && aliasCosine !== null;
}

export const graph: IndexDefinition<typeof options> = {
  options,
  reads: ({ edges, seeds }) => [
    'texts',
    'times',
    'attributes',
    'concept-edges',
    ...(edges.names > 0 || edges.namedBy > 0 || seeds.titles ? (['titles'] as const) : []),
    ...(edges.similar > 0 ? (['vectors'] as const) : []),
    ...(edges.reply > 0 ? (['replies'] as const) : []),
  ],
  description: 'the turns around what other sources found, on a graph of concepts, names, replies and similar turns',
};
