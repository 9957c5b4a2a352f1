import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** The concepts of N texts: a list of names, and each text's as indexes of it. */
export interface TurnConcepts {
  readonly names: readonly string[];
  /** [N + 1] where the indexes of each text begin. */
  readonly offsets: Int32Array;
  /** Places in `names`, in the order of each text. */
  readonly indexes: Int32Array;
}

/** The lists that concepts were made of, or read as. */
const LISTS = new WeakMap<TurnConcepts, readonly (readonly string[])[]>();

/** Lists of names as indexes of one list, which grow. */
export class ConceptList {
  readonly #indexOf = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #lists: (readonly string[])[] = [];
  readonly #indexes = new GrowingArray(new Int32Array(0));
  readonly #ends = new GrowingArray(Int32Array.of(0));

  /** Texts so far. */
  get length(): number {
    return this.#lists.length;
  }

  push(concepts: readonly string[]): void {
    for (const concept of concepts)
      this.#indexes.push(getOrCompute(this.#indexOf, concept, () => this.#names.push(concept) - 1));
    this.#ends.push(this.#indexes.length);
    this.#lists.push(concepts);
  }

  /** The concepts so far. Names and lists that are added later come after them in the same arrays. */
  read(): TurnConcepts {
    const read = { names: this.#names, offsets: this.#ends.numbers, indexes: this.#indexes.numbers };
    LISTS.set(read, this.#lists);
    return read;
  }
}

export function buildConceptList(lists: Iterable<readonly string[]>): TurnConcepts {
  const list = new ConceptList();
  for (const concepts of lists) list.push(concepts);
  return list.read();
}

/** @returns the concepts of each of the N texts, and of those that came after them. */
export function listTurnConcepts(concepts: TurnConcepts): readonly (readonly string[])[] {
  return getOrCompute(LISTS, concepts, () => {
    const { names, offsets, indexes } = concepts;
    return Array.from({ length: offsets.length - 1 }, (_, position) =>
      Array.from(indexes.subarray(offsets[position], offsets[position + 1]), (index) => names[index] as string),
    );
  });
}

/** @returns [N] the pairs of concepts that the triples of each turn join. */
export function listTurnRelations(relations: TurnConcepts): [string, string][][] {
  return listTurnConcepts(relations).map((ends) =>
    Array.from({ length: ends.length / 2 }, (_, pair): [string, string] => [ends[2 * pair]!, ends[2 * pair + 1]!]),
  );
}
