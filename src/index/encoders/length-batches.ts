/**
 * Batches of texts of equal length, shorter texts first; padding would affect the vector of a shorter text. Empty texts
 * are left out.
 *
 * @param pieces of each text
 * @returns indexes of texts
 */
export function* batchByLength(
  pieces: readonly { readonly length: number }[],
  batchSize: number,
): Generator<readonly number[]> {
  const order = [...pieces.keys()]
    .filter((text) => pieces[text]!.length > 0)
    .sort((a, b) => pieces[a]!.length - pieces[b]!.length);
  let start = 0;
  for (let end = 1; end <= order.length; end++) {
    const full = end - start === batchSize || end === order.length;
    if (!full && pieces[order[end]!]!.length === pieces[order[start]!]!.length) continue;
    yield order.slice(start, end);
    start = end;
  }
}
