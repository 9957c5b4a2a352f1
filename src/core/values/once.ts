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
