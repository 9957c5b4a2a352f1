import { countErrors, ValidationError } from '../../core/errors/errors.ts';
import { Counts } from '../prepared/counts.ts';

/** The treatment of an invalid row. */
export type OnDirtyRow = 'error' | 'skip';

/** A row that can't be used. */
interface RowFault {
  /** For example `turns.jsonl:17`. */
  readonly where: string;
  /** The kind, by which skipped rows are counted, for example `duplicate id`. */
  readonly kind: string;
  /** The value found, or the expected value and the value found. */
  readonly detail: string;
}

const SHOWN = 20;

/** Collects the faults of a dataset, for one error or for the counts. */
export class RowFaults {
  readonly #faults: RowFault[] = [];

  add(where: string, kind: string, detail: string): void {
    this.#faults.push({ where, kind, detail });
  }

  get list(): readonly RowFault[] {
    return this.#faults;
  }

  /** Ends reading: with `error` any fault throws, with `skip` each kind is counted. @param remedy what to do besides correcting. */
  settle(source: string, onDirtyRow: OnDirtyRow, remedy = 'set onDirtyRow: skip'): Counts {
    if (onDirtyRow === 'error' && this.#faults.length > 0) throw this.#createRowError(source, remedy);
    const counts = new Counts();
    for (const { where, kind } of this.#faults) counts.add(`skipped in ${where.split(':')[0]}: ${kind}`);
    return counts;
  }

  #createRowError(source: string, remedy: string): ValidationError {
    const lines = this.#faults.slice(0, SHOWN).map(({ where, kind, detail }) => `  ${where}: ${kind}: ${detail}`);
    const rest = this.#faults.length - lines.length;
    if (rest > 0) lines.push(`  and ${rest} more`);
    const heading = `${countErrors(this.#faults.length)} in ${source}; correct and run again, or ${remedy}`;
    return new ValidationError(`${heading}:\n${lines.join('\n')}`, { source, faults: this.#faults });
  }
}
