/** Computes a value when it is first asked for, and keeps it. A computation that throws is tried again. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}
