/** Counts by name, in the order in which the names first came up. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** @param amount 0 makes a name appear though nothing was counted. */
  add(name: string, amount = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + amount);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  toFacts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
