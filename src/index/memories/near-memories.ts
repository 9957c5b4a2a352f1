import { gatherRows } from '../../core/tensors/rows.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { assertAsked } from '../candidates/query-batch.ts';
import { FOREVER } from '../vectors/dense-rows.ts';
import { FlatIndex } from '../vectors/flat.ts';
import { listActive } from './listed-memories.ts';
import type { MemorySource } from './memory-options.ts';

/** What a search by cosine among memories leaves out. */
interface NearOptions {
  readonly name: MemorySource;
  /** Turns with a lower cosine are no candidates. */
  readonly minCosine: number;
  /** True if only procedures are searched, for questions about a process alone. */
  readonly isProcedural: boolean;
}

/** Exact search by cosine among memories. Owns its rows; throws after `dispose()`. */
class NearMemories implements CandidateIndex {
  readonly name: MemorySource;
  readonly #options: NearOptions;
  readonly #flat: FlatIndex;

  constructor({ corpus: { turns }, vectors, dimension }: IndexContext, options: NearOptions) {
    this.name = options.name;
    this.#options = options;
    const isSearched = ({ attributes }: Turn) => !options.isProcedural || attributes?.memoryType === 'procedural';
    const positions = listActive(turns, isSearched);
    this.#flat = new FlatIndex(
      turns.map(({ id }) => id),
      {
        ...{ dimension, positions, vectors: gatherRows(vectors, dimension, positions) },
        validFrom: positions.map((position) => position + 1),
        validTo: positions.map(() => FOREVER),
      },
    );
  }

  async search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates> {
    const { isProcedural, minCosine } = this.#options;
    const asked = isProcedural ? assertAsked(this.name, queries) : null;
    const { positions, scores, width } = await this.#flat.search(queries, k, progress);
    const isLeft = (slot: number) =>
      (scores[slot] as number) >= minCosine && asked?.[Math.floor(slot / width)]?.procedural !== false;
    return {
      positions: positions.map((position, slot) => (isLeft(slot) ? position : -1)),
      scores: scores.map((score, slot) => (isLeft(slot) ? score : 0)),
      width,
    };
  }

  dispose(): void {
    this.#flat.dispose();
  }
}

/** Memories whose cosine with the question is at least `minCosine`. */
export function createSemantic({ minCosine }: { readonly minCosine: number }, context: IndexContext): CandidateIndex {
  return new NearMemories(context, { name: 'semantic', minCosine, isProcedural: false });
}

/** Procedures by cosine, for questions about a process. */
export function createProcedural(_: unknown, context: IndexContext): CandidateIndex {
  return new NearMemories(context, { name: 'procedural', minCosine: -1, isProcedural: true });
}
