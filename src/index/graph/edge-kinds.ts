import { freezeDeeply } from '../../core/values/frozen.ts';

/** The kinds of edges of a concept graph, in the order in which a memory brings them. */
export const EDGE_KINDS = freezeDeeply([
  'mentions',
  'alias',
  'cooccurrence',
  'relation',
  'reply',
  'next',
  'names',
  'similar',
] as const);
/**
 * What an edge says: a memory mentions a concept; two concepts are spellings of one (`alias`); two concepts stand near each other in a memory (`cooccurrence`), or are joined by
 * a triple of a memory (`relation`); a turn answers a turn (`reply`) or follows it in their
 * conversation (`next`); the text of a memory holds the title of another (`names`); two memories are `similar` by the cosine of their vectors.
 */
export type EdgeKind = (typeof EDGE_KINDS)[number];
