import type { PropagatedVersions } from '../attention/versioned-propagation.ts';
import { FOREVER } from '../candidates/dense-rows.ts';
import { FlatIndex } from '../candidates/flat.ts';
import { type IndexOptions, loadIndex } from '../candidates/registry.ts';
import { ValidationError } from '../core/errors.ts';
import { getOrCompute } from '../core/once.ts';
import type { StartProgress } from '../core/progress.ts';
import { gatherRows } from '../core/rows.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import { lowerBound } from '../model/corpus.ts';
import { type Scope, type Scopes, scopedVectors } from './conversation-scope.ts';

/** Finds the rows of a turn's versions, ascending, at the cost of those rows: a scope must not look at all rows, of which there are as many as turns. */
export function rowsByTurn({ positions }: PropagatedVersions): (position: number) => Int32Array {
  const starts = new Int32Array(positions.reduce((most, position) => Math.max(most, position), -1) + 2);
  for (const position of positions) starts[position + 1]! += 1;
  for (let turn = 1; turn < starts.length; turn++) starts[turn]! += starts[turn - 1] as number;
  const rows = new Int32Array(positions.length);
  const next = starts.slice();
  for (const [row, position] of positions.entries()) rows[next[position]!++] = row;
  const startOf = (position: number) => starts[position] ?? rows.length; // turns behind the last with a version
  return (position) => rows.subarray(startOf(position), startOf(position + 1));
}

/**
 * The versions of a scope's turns, by the positions and the cutoffs that they have in it. A turn's version changes only when its conversation grows, so that no
 * two cutoffs that a scope takes for one tell versions apart.
 */
function rowsWithin(
  scope: Scope,
  versions: PropagatedVersions,
  dimension: number,
  rowsOf: (position: number) => Int32Array = rowsByTurn(versions),
): PropagatedVersions {
  if (scope.conversationId === null) return versions;
  const { positions } = scope;
  const last = positions.at(-1) ?? -1;
  const rows = Int32Array.from(Array.from(positions, (position) => [...rowsOf(position)]).flat()).sort();
  const local = (values: Int32Array) => Int32Array.from(rows, (row) => lowerBound(positions, values[row] as number));
  return {
    vectors: gatherRows(versions.vectors, dimension, rows),
    positions: local(versions.positions),
    validFrom: local(versions.validFrom),
    // A cutoff after the scope's last turn is its size, which an end that no cutoff reaches must stay above.
    validTo: local(versions.validTo).map((end, i) =>
      (versions.validTo[rows[i] as number] as number) > last + 1 ? FOREVER : end,
    ),
    reach: versions.reach,
  };
}

/**
 * Answers each query from an index over the turns that it asks, by themselves: what is rare is then what is rare among them. Owns the indexes; throws after
 * `dispose()`.
 */
class ScopedIndex implements CandidateIndex {
  readonly name: string;
  readonly #scopes: Scopes;
  readonly #make: (scope: Scope) => CandidateIndex;
  readonly #indexes = new Map<Scope, CandidateIndex>();
  #disposed = false;

  /** @param make an index over the scope's corpus, with its positions. */
  constructor(name: string, scopes: Scopes, make: (scope: Scope) => CandidateIndex) {
    this.name = name;
    this.#scopes = scopes;
    this.#make = make;
  }

  #index(scope: Scope): CandidateIndex {
    return getOrCompute(this.#indexes, scope, this.#make);
  }

  /** @throws ValidationError after `dispose()`. */
  async search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates> {
    if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; build a new index`);
    const count = queries.cutoffs.length;
    const found = { positions: new Int32Array(count * k).fill(-1), scores: new Float32Array(count * k), width: k };
    for (const { scope, places, batch } of this.#scopes.split(queries)) {
      const part = await this.#index(scope).search(batch, k, progress);
      const positions = part.positions.map((position) => (position < 0 ? -1 : (scope.positions[position] as number)));
      for (const [row, place] of places.entries()) {
        found.positions.set(positions.subarray(row * k, (row + 1) * k), place * k);
        found.scores.set(part.scores.subarray(row * k, (row + 1) * k), place * k);
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
 * An index over each scope of a corpus, by the options.
 *
 * @param vectors row-major [N, D] of the whole corpus
 * @param rows propagated ones, which `flat` alone can search; null for the turns' own
 */
export async function scopedIndex(
  options: IndexOptions,
  scopes: Scopes,
  { vectors, dimension, seed }: { readonly vectors: Float32Array; readonly dimension: number; readonly seed: number },
  rows: PropagatedVersions | null = null,
): Promise<ScopedIndex> {
  const create = await loadIndex(options);
  const rowsOf = rows === null ? undefined : rowsByTurn(rows);
  return new ScopedIndex(options.index, scopes, (scope) => {
    const { corpus } = scope;
    const ids = corpus.turns.map(({ id }) => id);
    if (rows !== null) return new FlatIndex(ids, { ...rowsWithin(scope, rows, dimension, rowsOf), dimension });
    return create({ corpus, vectors: scopedVectors(scope, vectors, dimension), dimension, seed });
  });
}
