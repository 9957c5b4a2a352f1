/**
 * Freezes arrays and plain objects at every depth, so that no importer can change a table of the project. Functions and
 * instances of classes are not changed.
 */
export function freezeDeeply<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) freezeDeeply(child);
  return value;
}

/** Runs functions one after the other in the order of the calls; an error does not stop the next. */
export function createSerialRunner(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // the caller handles the error
    return result;
  };
}

/** Computes a value when it is first asked for, and keeps it. A computation that throws is tried again. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** A map, or a weak one. */
export interface Keeper<K, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): unknown;
}

/** The value of a key, which is computed and kept when it is first asked for. A computation that throws keeps nothing. */
export function getOrCompute<K, V>(kept: Keeper<K, V>, key: K, compute: (key: K) => V): V {
  const known = kept.get(key);
  if (known !== undefined || kept.has(key)) return known as V;
  const made = compute(key);
  kept.set(key, made);
  return made;
}

/**
 * A map that makes a value each time it is asked for, and keeps none. `structuredClone` refuses it, since it holds
 * functions.
 */
export class LazyMap<K, V> extends Map<K, V> {
  /** @param makers what makes the value of each key. */
  constructor(makers: Iterable<readonly [K, () => V]>) {
    super();
    for (const [key, make] of makers) super.set(key, make as V);
  }

  override get(key: K): V | undefined {
    return (super.get(key) as (() => V) | undefined)?.();
  }

  override *entries(): MapIterator<[K, V]> {
    for (const [key, make] of super.entries()) yield [key, (make as () => V)()];
  }

  override *values(): MapIterator<V> {
    for (const make of super.values()) yield (make as () => V)();
  }

  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  override forEach(visit: (value: V, key: K, map: Map<K, V>) => void, self?: unknown): void {
    for (const [key, value] of this.entries()) visit.call(self, value, key, this);
  }

  /** Keeps the value from now on. */
  override set(key: K, value: V): this {
    return super.set(key, (() => value) as V);
  }
}
