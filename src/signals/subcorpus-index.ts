import type { PropagatedVersions } from '../attention/versioned-propagation.ts';
import { FOREVER } from '../candidates/dense-rows.ts';
import { FlatIndex } from '../candidates/flat.ts';
import { type IndexOptions, loadIndex } from '../candidates/registry.ts';
import { ValidationError } from '../core/errors.ts';
import { getOrCompute } from '../core/once.ts';
import type { StartProgress } from '../core/progress.ts';
import { gatherRows } from '../core/rows.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import { findLowerBound } from '../model/corpus.ts';
import { type Subcorpora, type Subcorpus, selectScopeVectors } from './subcorpus.ts';

/** Finds the rows of a turn's versions, ascending, at the cost of those rows: a subcorpus must not look at all rows, of which there are as many as turns. */
export function createRowFinder({ positions }: PropagatedVersions): (position: number) => Int32Array {
  const starts = new Int32Array(positions.reduce((most, position) => Math.max(most, position), -1) + 2);
  for (const position of positions) starts[position + 1]! += 1;
  for (let turn = 1; turn < starts.length; turn++) starts[turn]! += starts[turn - 1] as number;
  const rows = new Int32Array(positions.length);
  const next = starts.slice();
  for (const [row, position] of positions.entries()) rows[next[position]!++] = row;
  const findScopeStart = (position: number) => starts[position] ?? rows.length; // turns behind the last with a version
  return (position) => rows.subarray(findScopeStart(position), findScopeStart(position + 1));
}

/**
 * The versions of a subcorpus's turns, by the positions and the cutoffs that they have in it. A turn's version changes only when its conversation grows, so that no
 * two cutoffs that a subcorpus takes for one tell versions apart.
 */
function selectScopeVersions(
  subcorpus: Subcorpus,
  versions: PropagatedVersions,
  dimension: number,
  rowsOf: (position: number) => Int32Array = createRowFinder(versions),
): PropagatedVersions {
  if (subcorpus.conversationId === null) return versions;
  const { positions } = subcorpus;
  const last = positions.at(-1) ?? -1;
  const rows = Int32Array.from(Array.from(positions, (position) => [...rowsOf(position)]).flat()).sort();
  const mapLocalPositions = (values: Int32Array) =>
    Int32Array.from(rows, (row) => findLowerBound(positions, values[row] as number));
  return {
    vectors: gatherRows(versions.vectors, dimension, rows),
    positions: mapLocalPositions(versions.positions),
    validFrom: mapLocalPositions(versions.validFrom),
    // A cutoff after the subcorpus's last turn is its size, which an end that no cutoff reaches must stay above.
    validTo: mapLocalPositions(versions.validTo).map((end, i) =>
      (versions.validTo[rows[i] as number] as number) > last + 1 ? FOREVER : end,
    ),
    reach: versions.reach,
  };
}

/**
 * Answers each query from an index over the turns that it asks, by themselves: what is rare is then what is rare among them. Owns the indexes; throws after
 * `dispose()`.
 */
class SubcorpusIndex implements CandidateIndex {
  readonly name: string;
  readonly #subcorpora: Subcorpora;
  readonly #make: (subcorpus: Subcorpus) => CandidateIndex;
  readonly #indexes = new Map<Subcorpus, CandidateIndex>();
  #disposed = false;

  /** @param make an index over the subcorpus's corpus, with its positions. */
  constructor(name: string, subcorpora: Subcorpora, make: (subcorpus: Subcorpus) => CandidateIndex) {
    this.name = name;
    this.#subcorpora = subcorpora;
    this.#make = make;
  }

  #index(subcorpus: Subcorpus): CandidateIndex {
    return getOrCompute(this.#indexes, subcorpus, this.#make);
  }

  /** @throws ValidationError after `dispose()`. */
  async search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates> {
    if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; build a new index`);
    const count = queries.cutoffs.length;
    const found = { positions: new Int32Array(count * k).fill(-1), scores: new Float32Array(count * k), width: k };
    for (const { subcorpus, queryIndexes, batch } of this.#subcorpora.split(queries)) {
      const part = await this.#index(subcorpus).search(batch, k, progress);
      const positions = part.positions.map((position) =>
        position < 0 ? -1 : (subcorpus.positions[position] as number),
      );
      for (const [row, queryIndex] of queryIndexes.entries()) {
        found.positions.set(positions.subarray(row * k, (row + 1) * k), queryIndex * k);
        found.scores.set(part.scores.subarray(row * k, (row + 1) * k), queryIndex * k);
      }
    }
    return found;
  }

  dispose(): void {
    this.#disposed = true;
    for (const index of this.#indexes.values()) index.dispose();
    this.#indexes.clear();
  }
}

/**
 * An index over each subcorpus of a corpus, by the options.
 *
 * @param vectors row-major [N, D] of the whole corpus
 * @param rows propagated ones, which `flat` alone can search; null for the turns' own
 */
export async function createSubcorpusIndex(
  options: IndexOptions,
  subcorpora: Subcorpora,
  { vectors, dimension, seed }: { readonly vectors: Float32Array; readonly dimension: number; readonly seed: number },
  rows: PropagatedVersions | null = null,
): Promise<SubcorpusIndex> {
  const create = await loadIndex(options);
  const rowsOf = rows === null ? undefined : createRowFinder(rows);
  return new SubcorpusIndex(options.index, subcorpora, (subcorpus) => {
    const { corpus } = subcorpus;
    const ids = corpus.turns.map(({ id }) => id);
    if (rows !== null)
      return new FlatIndex(ids, { ...selectScopeVersions(subcorpus, rows, dimension, rowsOf), dimension });
    return create({ corpus, vectors: selectScopeVectors(subcorpus, vectors, dimension), dimension, seed });
  });
}
