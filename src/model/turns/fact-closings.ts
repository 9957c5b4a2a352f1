import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { type Described, type FactCloser, readMemoryFields } from './memory-fields.ts';

/** A turn that may state a fact. */
type StatedTurn = Described & { readonly author: string | null };

/** The turns that state an open fact. */
interface OpenFact {
  readonly object: string;
  readonly positions: number[];
}

/**
 * Closes facts as a fact graph with two timelines does when each turn asserts its fact and ends those with the same
 * subject and predicate and another object. A fact is the attributes `subject`, `predicate` and `object` of a turn with
 * `memoryType: semantic`; other turns have none. A turn costs the turns whose fact it closes.
 */
export class FactClosings {
  readonly #by: FactCloser;
  readonly #closedAt = new GrowingArray(new Int32Array(0));
  /** By what a later fact closes it with. */
  readonly #open = new Map<string, OpenFact>();

  constructor(by: FactCloser) {
    this.#by = by;
  }

  /** N, the turns so far. */
  get size(): number {
    return this.#closedAt.length;
  }

  /**
   * [N] the position of the turn that closed the fact of this one; -1: it holds, or the turn has no fact. Not a copy, and
   * to be read again after {@link add}.
   */
  get closedAt(): Int32Array {
    return this.#closedAt.numbers;
  }

  /** Adds the next turn in the order of time. */
  add(turn: StatedTurn): void {
    const position = this.size;
    this.#closedAt.push(-1);
    const { subject, predicate, object } = readMemoryFields(turn);
    if (subject === undefined || predicate === undefined || object === undefined) return;
    const key = JSON.stringify([subject, predicate, ...(this.#by === 'author' ? [turn.author] : [])]);
    const held = getOrCompute(this.#open, key, () => ({ object, positions: [] }));
    if (held.object === object) held.positions.push(position);
    else {
      for (const earlier of held.positions) this.closedAt[earlier] = position;
      this.#open.set(key, { object, positions: [position] });
    }
  }
}
