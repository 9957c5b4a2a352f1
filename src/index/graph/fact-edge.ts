import { ValidationError } from '../../core/errors/errors.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';

/**
 * A version of a fact: what the store believed about it for a while. Times are numbers of one unit, such as milliseconds since 1970. Windows are half-open: a
 * moment t is in [from, until) if from <= t < until; null has no end.
 */
export interface FactEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly relation: string;
  /** Above 0. */
  readonly weight: number;
  /** Valid time: since when the fact held in the world. */
  readonly validFrom: number;
  /** Valid time: when it ceased to hold; null if no end is known. */
  readonly validUntil: number | null;
  /** Transaction time: when the store learned this version. */
  readonly recordedAt: number;
  /** Transaction time: when the store ceased to believe this version; null if the store still believed it at the moment of the answer. */
  readonly supersededAt: number | null;
  /** The fact that ended this one; null if none was named. */
  readonly closedBy: string | null;
}

/** A fact as it is asserted. */
export interface Fact extends Pick<FactEdge, 'id' | 'source' | 'target' | 'relation' | 'validFrom'> {
  /** Default 1. */
  readonly weight?: number;
  /** Default null: no end is known. */
  readonly validUntil?: number | null;
}

/** How a fact ended: when in the world, when the store learned it, and by which other fact. */
export interface FactClosing {
  readonly validUntil: number;
  readonly recordedAt: number;
  readonly by?: string | null;
}

/** The moments of a query on the two timelines. */
export interface FactMoments {
  /** A moment in the world; null or absent: any. */
  readonly valid?: number | null;
  /** A moment in the store's history; null or absent: now, after everything that was recorded. */
  readonly known?: number | null;
}

/** A change of a graph of facts, with its defaults. Each makes one version. */
export type FactOperation =
  | { readonly kind: 'assert'; readonly fact: Required<Fact>; readonly recordedAt: number }
  | ({ readonly kind: 'supersede'; readonly id: string } & Required<FactClosing>);

const FACT_KEYS: readonly string[] = ['id', 'source', 'target', 'relation', 'weight', 'validFrom', 'validUntil'];
const CLOSING_KEYS: readonly string[] = ['validUntil', 'recordedAt', 'by'];
const MOMENT_KEYS: readonly string[] = ['valid', 'known'];

/** The door to the fields of an object: refuses what is no object and keys that are unknown. */
function assertKeys(what: string, value: unknown, keys: readonly string[]): void {
  if (value === null || typeof value !== 'object')
    throw new ValidationError(`${what} is no object: ${shortenToExcerpt(value)}; pass an object`, { value });
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw new ValidationError(`${what} has an unknown key: ${unknown}; use ${keys.join(', ')}`, { key: unknown });
}

function assertText(what: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw new ValidationError(`${what} is no text: ${shortenToExcerpt(value)}; pass a string that is not empty`, {
    value,
  });
}

/** @returns the number, with 0 for -0, which JSON does not distinguish. */
function checkFinite(what: string, value: unknown, remedy: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0;
  throw new ValidationError(`${what} is not a finite number: ${shortenToExcerpt(value)}; ${remedy}`, { value });
}

const checkTime = (what: string, value: unknown, remedy = 'pass a time as a number') =>
  checkFinite(what, value, remedy);

/** The end of a window of valid time. @throws ValidationError unless it is after the beginning. */
export function assertWindow(what: string, validFrom: number, validUntil: number | null): void {
  if (validUntil === null || validUntil > validFrom) return;
  throw new ValidationError(
    `validUntil of ${what} is not after validFrom ${validFrom}: ${validUntil}; pass a later time`,
    { validFrom, validUntil },
  );
}

/** An asserted fact as an operation of its own: the caller may change what was passed. @throws ValidationError. */
export function checkFact(fact: Fact, recordedAt: number): FactOperation {
  assertKeys('fact', fact, FACT_KEYS);
  const { id, source, target, relation } = fact;
  assertText('id of the fact', id);
  const what = `fact ${id}`;
  for (const [name, value] of Object.entries({ source, target, relation })) assertText(`${name} of ${what}`, value);
  const weight = checkFinite(`weight of ${what}`, fact.weight ?? 1, 'pass a number above 0');
  if (weight <= 0)
    throw new ValidationError(`weight of ${what} is not above 0: ${weight}; pass a number above 0`, { weight });
  const validFrom = checkTime(`validFrom of ${what}`, fact.validFrom);
  const until = fact.validUntil ?? null;
  const remedy = 'pass a time as a number, or null for no end';
  const validUntil = until === null ? null : checkTime(`validUntil of ${what}`, until, remedy);
  assertWindow(what, validFrom, validUntil);
  const recorded = checkTime(`recordedAt of ${what}`, recordedAt);
  return {
    kind: 'assert',
    fact: { id, source, target, relation, weight, validFrom, validUntil },
    recordedAt: recorded,
  };
}

/** The end of a fact as an operation. @throws ValidationError. */
export function checkClosing(id: string, closing: FactClosing): FactOperation {
  assertText('id of the fact', id);
  const what = `fact ${id}`;
  assertKeys(`end of ${what}`, closing, CLOSING_KEYS);
  const by = closing.by ?? null;
  if (by !== null) assertText(`by of ${what}`, by);
  if (by === id)
    throw new ValidationError(`fact is superseded by itself: ${id}; pass the id of another fact or none`, { id });
  const validUntil = checkTime(`validUntil of ${what}`, closing.validUntil);
  return { kind: 'supersede', id, validUntil, recordedAt: checkTime(`recordedAt of ${what}`, closing.recordedAt), by };
}

/** The moments of a query, null where they are left open. @throws ValidationError. */
export function checkMoments(moments: FactMoments): Required<FactMoments> {
  assertKeys('moments of the query', moments, MOMENT_KEYS);
  const check = (name: string, value: number | null | undefined) =>
    (value ?? null) === null ? null : checkTime(name, value, 'pass a time as a number, or null to leave it open');
  return { valid: check('valid', moments.valid), known: check('known', moments.known) };
}
