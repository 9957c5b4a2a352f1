/** Keys of earlier arms -> the key that replaces them, with an example, for the error about such a key. */
const NOW: Readonly<Record<string, string>> = {
  dataset: 'no dataset in an arm; list several in datasets, or in a sweep',
  name: 'the name of the arm as its key in arms',
  extends: 'from, as in from: hybrid',
  base: 'an arm, and from: its name in those that start from it',
  candidates: 'search, as in search: { bm25: {} }',
  run: 'search, as in search: { run: { file: theirs.trec } }',
  relevance: 'fuse, as in fuse: { convex: { hnsw: 0.3, bm25: rest } }',
  fusion: 'fuse, as in fuse: { convex: { hnsw: 0.3, bm25: rest } }',
  sameChannel: "filter after search, as in filter: 'channel = $query.channel'",
  trajectory: 'blend, as in blend: { trajectory: { weight: 0.3 } }',
  attention: 'blend, as in blend: { rcp: { weight: 0.2 } }',
  propagation: 'propagate, as in propagate: published',
  boosts: 'boost, as in boost: [{ attribute: importance, factor: 0.2 }]',
  curation: 'curate, as in curate: {}',
  selection: 'select or rerank, as in select: { mmr: { k: 20 } }',
  scoring: 'mix, as in mix: weights.safetensors',
};

/** The key that replaces a key of earlier arms, with an example; undefined for any other key. */
export function findReplacement(key: string): string | undefined {
  return Object.hasOwn(NOW, key) ? NOW[key] : undefined;
}

/** The expectation of an error about a list of arms that are not written out. */
export const ARMS_BY_NAME = 'a mapping of arms by name, as in arms: { words: [search: { bm25: {} }] }';
