import { assertUnitRows } from '../candidates/query-batch.ts';
import { DimensionMismatchError } from '../core/errors.ts';
import type { StartProgress } from '../core/progress.ts';
import type { EncoderOptions } from '../embedding/registry.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import type { WorkspaceIdentity } from '../retrieval/stage-graph.ts';
import type { StageStore } from './stage.ts';

/** The corpus and the queries as one encoder has them. */
export interface Encoding {
  readonly dimension: number;
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
}

export interface WorkspaceInputs {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
  readonly dimension: number;
  readonly seed: number;
  readonly progress?: StartProgress;
  /** Embeds turns and queries with another encoder than that of the vectors; without it there is none. */
  readonly encode?: (options: EncoderOptions) => Promise<Encoding>;
  /** Where results are kept for other workspaces, and what tells theirs from ours; without it they stay in memory. */
  readonly stages?: { readonly store: StageStore; readonly identity: WorkspaceIdentity };
}

/** Checked here, since to a fusion NaN means that a source did not find the candidate. */
export function assertVectors(
  what: string,
  owners: readonly { readonly id: string }[],
  vectors: Float32Array,
  dimension: number,
): void {
  if (vectors.length !== owners.length * dimension)
    throw new DimensionMismatchError(`numbers in the ${what} vectors`, owners.length * dimension, vectors.length);
  assertUnitRows(vectors, dimension, (row) => `${what} ${owners[row]?.id}`);
}
