/**
 * The end of each chain of parents, walked once: O(ids).
 *
 * @param parentOf the parent of an id, null if the chain ends with the id.
 * @returns for each id the last id of its chain. A chain that runs into a cycle ends with the first id of the cycle that it meets, so an id on a cycle ends with
 * itself though it has a parent.
 */
export function findChainEnds(ids: Iterable<string>, parentOf: (id: string) => string | null): Map<string, string> {
  const ends = new Map<string, string>();
  for (const start of ids) {
    const path = new Map<string, number>();
    let at = start;
    let parent = parentOf(at);
    while (!ends.has(at) && !path.has(at)) {
      path.set(at, path.size);
      if (parent === null) break;
      at = parent;
      parent = parentOf(at);
    }
    const met = path.get(at);
    const onCycle = met !== undefined && parent !== null;
    const end = ends.get(at) ?? at;
    for (const [id, step] of path) ends.set(id, onCycle && step >= met ? id : end);
  }
  return ends;
}
