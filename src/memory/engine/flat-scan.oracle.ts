import type { Memory } from './memory.ts';

const ALL = 1000;

function computeDistance(a: Float32Array, b: Float32Array): number {
  let [dot, squareA, squareB] = [0, 0, 0];
  for (const [i, value] of a.entries()) {
    dot += value * (b[i] as number);
    squareA += value * value;
    squareB += (b[i] as number) ** 2;
  }
  return 1 - dot / Math.sqrt(squareA * squareB);
}

/**
 * Compares what each index of a memory finds for queries, with all records as the most to find, with a scan of the
 * records that the memory has.
 *
 * @returns a sentence about the first difference; null if there is none.
 */
export async function findStrayAnswer(memory: Memory, queries: readonly Float32Array[]): Promise<string | null> {
  const records = [...memory.records()];
  for (const name of memory.indexNames)
    for (const query of queries) {
      const expected = new Map(records.map(({ id, embedding }) => [id, computeDistance(query, embedding)]));
      const found = new Map((await memory.search(name, query, ALL)).map(({ id, distance }) => [id, distance]));
      const ids = new Set([...expected.keys(), ...found.keys()]);
      for (const id of ids) {
        const [wanted, got] = [expected.get(id), found.get(id)];
        if (wanted === undefined || got === undefined || Math.abs(wanted - got) > 1e-5)
          return `index ${name} has ${id} at ${got ?? 'no distance'}, a scan at ${wanted ?? 'no distance'}`;
      }
    }
  return null;
}
