/** Freezes arrays and plain objects with all that is in them, so that nobody can change what the whole project reads. Functions and instances of classes stay. */
export function frozen<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) frozen(child);
  return value;
}
