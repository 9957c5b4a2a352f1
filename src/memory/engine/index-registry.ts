import { IndexNotFoundError, QueryError, ValidationError } from '../../core/errors/errors.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { VectorIndex, VectorMatch, VectorSearchOptions } from '../../model/vector-index.ts';
import { fuseLists, parseFusion } from '../../ops/fusion/registry.ts';

/** What several indexes found for one query. */
export interface IndexAnswers {
  /** Best first by the tie rule; the scores are those of the one index, or fused. */
  readonly ranking: readonly Scored[];
  /** What each index found, best first. */
  readonly found: ReadonlyMap<string, readonly VectorMatch[]>;
}

/** The method of fusion by name, or with its options. */
export type FusionChoice = string | Readonly<Record<string, unknown>>;

/** Vector indexes by name, searched together. */
export class IndexRegistry {
  readonly #indexes = new Map<string, VectorIndex>();

  /** In the order in which they were registered. */
  get names(): readonly string[] {
    return [...this.#indexes.keys()];
  }

  /** @throws ValidationError for a name that is taken. */
  register(name: string, index: VectorIndex): void {
    if (this.#indexes.has(name))
      throw new ValidationError(`an index has this name: ${name}; choose another name`, { name });
    this.#indexes.set(name, index);
  }

  /** @throws IndexNotFoundError. */
  get(name: string): VectorIndex {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new IndexNotFoundError(name, suggestKnown(name, this.names));
    return index;
  }

  /**
   * Searches indexes for one query and fuses what they find.
   *
   * @param query [D]
   * @param k the most that each index finds.
   * @param names the indexes; absent: all of them.
   * @param fusion of the lists of several indexes; any of the project's fusions, see docs/fusion.md.
   * @throws IndexNotFoundError; QueryError for no index; ConfigurationError for a fusion that does not exist; DimensionMismatchError.
   */
  async searchAll(
    query: Float32Array,
    k: number,
    {
      names = this.names,
      fusion = 'rrf',
      ...options
    }: VectorSearchOptions & {
      readonly names?: readonly string[];
      readonly fusion?: FusionChoice;
    } = {},
  ): Promise<IndexAnswers> {
    const indexes = [...new Set(names)].map((name) => [name, this.get(name)] as const);
    if (indexes.length === 0) throw new QueryError('no index to search; register an index or name one');
    const chosen = parseFusion(fusion, 'the fusion of several indexes');
    const found = new Map<string, readonly VectorMatch[]>();
    for (const [name, index] of indexes) {
      found.set(name, (await index.search(query, k, options))[0] as VectorMatch[]);
      options.signal?.throwIfAborted();
    }
    const [first] = found.values();
    const ranking = found.size === 1 ? (first as readonly VectorMatch[]) : fuseLists(Object.fromEntries(found), chosen);
    return { ranking, found };
  }
}
