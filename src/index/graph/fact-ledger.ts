import { ValidationError } from '../../core/errors/errors.ts';
import { assertWindow, type FactOperation } from './fact-edge.ts';

/**
 * What decides whether an operation may follow others: the facts so far, and the moment of the last operation. A ledger above another one adds to what that one
 * has and leaves that one as it is, for operations that wait to be written.
 */
export class FactLedger {
  readonly #below: FactLedger | null;
  /** By id, the beginning of its valid window. */
  readonly #starts = new Map<string, number>();
  #last: number | null = null;

  constructor(below: FactLedger | null = null) {
    this.#below = below;
  }

  /** The moment at which the last operation was recorded; null if there was none. */
  get last(): number | null {
    return this.#last ?? this.#below?.last ?? null;
  }

  /** Since when a fact holds; undefined for an unknown fact. */
  findStart(id: string): number | undefined {
    return this.#starts.get(id) ?? this.#below?.findStart(id);
  }

  /** Adds an operation. @throws ValidationError for one that may not follow; the ledger is as before then. */
  add(operation: FactOperation): void {
    this.#assertOrder(operation.recordedAt);
    if (operation.kind === 'supersede') this.#assertCloses(operation);
    else this.#assertNew(operation.fact.id);
    if (operation.kind === 'assert') this.#starts.set(operation.fact.id, operation.fact.validFrom);
    this.#last = operation.recordedAt;
  }

  #assertOrder(recordedAt: number): void {
    const { last } = this;
    if (last === null || recordedAt >= last) return;
    throw new ValidationError(
      `recordedAt is before the last one: ${recordedAt} < ${last}; record facts in the order in which they are learned`,
      { recordedAt, last },
    );
  }

  #assertNew(id: string): void {
    if (this.findStart(id) === undefined) return;
    throw new ValidationError(`fact is in the graph: ${id}; supersede it, or use another id`, { id });
  }

  #assertCloses({ id, validUntil, by }: Extract<FactOperation, { kind: 'supersede' }>): void {
    for (const known of by === null ? [id] : [id, by])
      if (this.findStart(known) === undefined)
        throw new ValidationError(`fact is not in the graph: ${known}; assert it first`, { id: known });
    assertWindow(`fact ${id}`, this.findStart(id) as number, validUntil);
  }
}
