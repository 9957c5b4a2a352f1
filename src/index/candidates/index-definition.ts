import { z } from 'zod';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { CandidateIndex, QueryBatch } from '../../model/candidates.ts';
import type { TokenSource } from '../../model/encoder.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { KeptGraphs } from '../graph/graph-moment.ts';

/** A null control of the concept graph, and the seed of its draws. */
export interface GraphControl {
  readonly kind: 'random-graph' | 'shuffled-titles';
  readonly seed: number;
}

/** Vectors of concepts. */
export interface ConceptVectors {
  readonly names: readonly string[];
  /** Row-major [names, D], unit rows. */
  readonly vectors: Float32Array;
  /** D. */
  readonly dimension: number;
}

/** What an index may be made from besides its options. */
export interface IndexContext {
  readonly corpus: Corpus;
  /** Row-major [N, D], for the indexes that compare vectors. */
  readonly vectors: Float32Array;
  /** D. */
  readonly dimension: number;
  readonly seed: number;
  /** [N] the concepts of each turn, for the index that joins turns by them; it lists them itself where they are absent. */
  readonly concepts?: readonly (readonly string[])[];
  /** [N] the entities of each turn, for the index that finds turns by them; it lists the named things of the texts where they are absent. */
  readonly entities?: readonly (readonly string[])[];
  /** [N] both ends of each triple of each turn, one after the other, for the index that has edges of relations. */
  readonly relations?: readonly (readonly string[])[];
  /** The vectors of concepts, for the index that compares them. */
  readonly conceptVectors?: ConceptVectors;
  /** The vectors of tokens, for the index that compares them. */
  readonly tokens?: TokenSource;
  /** The null control in whose world the index is, where it destroys something that the index reads. */
  readonly control?: GraphControl;
  /** Where indexes over one corpus share what they build of it; each builds its own where it is absent. */
  readonly graphs?: KeptGraphs;
}

/** An index that goes on where turns come after those that it has. */
export interface GrowingIndex extends CandidateIndex {
  /** @param context of a corpus that begins with the turns of the index. */
  growWith(context: IndexContext): Promise<void>;
}

export const canGrow = (index: CandidateIndex): index is GrowingIndex => 'growWith' in index;

/** What an index's results depend on. */
export type IndexReads = readonly (
  | 'texts'
  | 'vectors'
  | 'tokens'
  | 'times'
  | 'replies'
  | 'attributes'
  | 'titles'
  | 'concept-edges'
)[];

/** An index that is not made yet. */
export interface IndexDefinition<S extends NamingOptions<'index'> = NamingOptions<'index'>>
  extends Definition<'index', S> {
  /** By the options where these decide. */
  readonly reads: IndexReads | ((options: z.output<S>) => IndexReads);
  /** Of a plugin's index: identity of the plugin's code, part of every key. */
  readonly version?: string;
}

/** The implementation of an index: makes it over the whole corpus; a query's cutoff decides what the query may see. */
export type CreateIndex<Options> = (options: Options, context: IndexContext) => CandidateIndex;

/**
 * What given pairs of a query and a turn are at each query's time.
 *
 * @param positions row-major [Q, width], -1 for padding; for example the union of the candidates of several indexes.
 * @throws ValidationError for a position that is not before its query's cutoff; DimensionMismatchError.
 */
export type ScorePairs<Pairs> = (
  queries: QueryBatch,
  positions: Int32Array,
  width: number,
  progress?: StartProgress,
) => Promise<Pairs>;

/** Candidates of each query, an option of every index. */
export const candidateCount = z.int().min(1).default(100);
