/** Freezes arrays and plain objects at every depth, so that no importer can change a table of the project. Functions and instances of classes are not changed. */
export function freezeDeeply<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) freezeDeeply(child);
  return value;
}
