import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { ConceptVectors } from '../../index/candidates/index-definition.ts';
import type { TextOwner } from '../../model/encoder.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import type { World } from './signal.ts';

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

/** The turns, and their encoder. */
type EmbeddingWorld = Pick<World, 'corpus' | 'embedTexts'>;

/** Room for vectors of concepts that come later, as a multiple of what is needed. */
const SPARE = 1.5;

/** The vectors of the concepts of turns, which grow with them. */
export class ConceptVectorList {
  /** Turns whose concepts have their vectors. */
  #size = 0;
  /** Concepts, C. */
  #count = 0;
  #dimension = 0;
  /** Row-major [C, D], and room for more. */
  #rows = new Float32Array(0);

  /**
   * Embeds the concepts that later turns are the first to mention, and those that a later sensitive turn mentions: a
   * concept belongs to the first turn that mentions it, or to the last sensitive one.
   *
   * @param concepts of all turns.
   * @throws what the encoder throws; nothing is taken in then.
   */
  async add(world: EmbeddingWorld, { names, offsets, indexes }: TurnConcepts): Promise<this> {
    const { corpus } = world;
    const owners = new Map<number, TextOwner>();
    for (let position = this.#size; position < corpus.size; position++) {
      const turn = corpus.turns[position]!;
      for (const index of indexes.subarray(offsets[position], offsets[position + 1]))
        if (isSensitive(turn)) owners.set(index, { kind: 'turn', id: turn.id, sensitive: true });
        else if (index >= this.#count && !owners.has(index)) owners.set(index, { kind: 'turn', id: turn.id });
    }
    if (owners.size > 0 || this.#size === 0) {
      const texts = Array.from(owners.keys(), (index) => names[index]!);
      const { vectors, dimension } = await world.embedTexts(texts, [...owners.values()]);
      this.#place([...owners.keys()], vectors, dimension);
    }
    this.#size = corpus.size;
    return this;
  }

  #place(places: readonly number[], vectors: Float32Array, dimension: number): void {
    const isFirst = this.#count === 0;
    this.#dimension = dimension;
    this.#count = places.reduce((count, place) => Math.max(count, place + 1), this.#count);
    const length = this.#count * dimension;
    if (length > this.#rows.length) {
      const longer = new Float32Array(isFirst ? length : Math.ceil(SPARE * length));
      longer.set(this.#rows);
      this.#rows = longer;
    }
    for (const [row, place] of places.entries()) this.#rows.set(viewRow(vectors, dimension, row), place * dimension);
  }

  /** @param names of the concepts, in the order in which they were first mentioned. */
  read(names: readonly string[]): ConceptVectors {
    const dimension = this.#dimension;
    return { names, vectors: this.#rows.subarray(0, this.#count * dimension), dimension };
  }
}
