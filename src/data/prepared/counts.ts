import { freezeDeeply } from '../../core/values/frozen.ts';

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

/** The counts of judgements that name no turn of the data, by dataset. A run warns of them. */
export const UNKNOWN_TURNS = freezeDeeply({
  jsonl: 'skipped in qrels.txt: unknown turn',
  locomo: 'evidence that names no turn',
  'trec-collection': 'skipped: judgements of unknown documents',
} as const);

/** The judgements that name no turn of the data. @param facts of a dataset */
export function countUnknownTurns(facts: Readonly<Record<string, number>>): number {
  return Object.values(UNKNOWN_TURNS).reduce((sum, fact) => sum + (facts[fact] ?? 0), 0);
}
