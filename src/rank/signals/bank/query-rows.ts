import { ValidationError } from '../../../core/errors/errors.ts';
import type { Spread } from './spread.ts';

/** A table of signals that is being filled, [Q, C, F]. */
export interface TableColumns {
  readonly values: Float32Array;
  /** F columns by name. */
  readonly columns: ReadonlyMap<string, number>;
}

/** Where one query's signals go: the rows of its candidates in a table. Rows of padding stay as they are. */
export class QueryRows {
  /** [C] in the query's subcorpus, -1 for padding. */
  readonly positions: Int32Array;
  readonly #values: Float32Array;
  readonly #columns: ReadonlyMap<string, number>;
  /** Where the first candidate's row begins. */
  readonly #start: number;

  /** @param query place of its rows in the table. */
  constructor({ values, columns }: TableColumns, query: number, positions: Int32Array) {
    this.positions = positions;
    this.#values = values;
    this.#columns = columns;
    this.#start = query * positions.length * columns.size;
  }

  #findColumn(name: string): number {
    const column = this.#columns.get(name);
    if (column === undefined)
      throw new ValidationError(`signal table has no column: ${name}; name one of its columns`, { name });
    return column;
  }

  /** Fills a column: with a value for each candidate, by its position in the subcorpus and its place in the pool's row. */
  write(name: string, value: (position: number, slot: number) => number): void {
    const { positions } = this;
    let at = this.#start + this.#findColumn(name);
    for (let slot = 0; slot < positions.length; slot++, at += this.#columns.size) {
      const position = positions[slot] as number;
      if (position >= 0) this.#values[at] = value(position, slot);
    }
  }

  /** Fills the adjacent columns of a score that is spread. */
  spread(name: string, spread: Spread, scores: Float64Array, cutoff: number): void {
    const out = {
      values: this.#values,
      start: this.#start,
      stride: this.#columns.size,
      column: this.#findColumn(name),
    };
    spread.write(scores, cutoff, this.positions, out);
  }

  /** Fills a column with the product of two that have been filled. */
  multiply(name: string, [a, b]: readonly [string, string]): void {
    const [first, second] = [this.#start + this.#findColumn(a), this.#start + this.#findColumn(b)];
    const stride = this.#columns.size;
    const readColumnValue = (at: number) => this.#values[at] as number;
    this.write(name, (_, slot) => readColumnValue(first + slot * stride) * readColumnValue(second + slot * stride));
  }
}
