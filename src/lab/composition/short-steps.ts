import { isPlain, type Path, type Plain } from './config-file.ts';

const expandName = (content: unknown) => (typeof content === 'string' ? { [content]: {} } : content);

/** Step -> what its short form stands for. */
const EXPANSIONS: Readonly<Record<string, (content: unknown) => unknown>> = {
  decay: (content) => (typeof content === 'number' ? { halfLifeHours: content } : content),
  pack: (content) => (typeof content === 'number' ? { tokens: content } : content),
  mix: (content) => (typeof content === 'string' ? { weights: content } : content),
  blend: (content) =>
    isPlain(content)
      ? Object.fromEntries(
          Object.entries(content).map(([name, part]) => [name, typeof part === 'number' ? { weight: part } : part]),
        )
      : content,
  fuse: expandName,
  rerank: expandName,
  select: expandName,
};

/** The options of a step in full, so that paths lead through them: `decay: 24` is `decay: { halfLifeHours: 24 }`. */
export function expandShortStep(name: string, content: unknown): unknown {
  return EXPANSIONS[name]?.(content) ?? content;
}

/** The kind of a step of an arm by its name. */
export const readStepKind = ({ as }: Plain, name: string): string =>
  isPlain(as) && Object.hasOwn(as, name) ? String(as[name]) : name;

/** The same for a value at a path within an arm: the options of a step, or one blend. */
export function expandShortValue(arm: Plain, [name = '', part, ...rest]: Path, value: unknown): unknown {
  const kind = readStepKind(arm, name);
  if (part === undefined) return expandShortStep(kind, value);
  const isBlend = kind === 'blend' && rest.length === 0;
  return isBlend ? (expandShortStep(kind, { [part]: value }) as Plain)[part] : value;
}

/** The same for each step of a part of an arm. */
export function expandShortSteps(arm: Plain, part: Plain): Plain {
  const entries = Object.entries(part);
  return Object.fromEntries(
    entries.map(([name, content]) => [name, expandShortStep(readStepKind(arm, name), content)]),
  );
}

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

/** Keys of an earlier training -> the key that replaces them. */
const NOW_IN_FIT: Readonly<Record<string, string>> = {
  signals: 'mix.signals of an arm, as in mix: { signals: { groups: [text] }, fit: {} }',
  model: 'mix.fit.model of an arm, as in mix: { fit: { model: { name: linear } } }',
  users: 'mix.fit.users of an arm',
  fitting: 'its keys in mix.fit of an arm, as in mix: { fit: { epochs: 40, loss: [infonce] } }',
  crossValidation: 'mix.fit.folds and mix.fit.innerFolds of an arm',
  importance: 'mix.fit.importance of an arm',
  transfer: 'mix.fit.transfer of an arm',
  limitQueries: 'evaluation.limitQueries',
  filter: 'a step filter of an arm',
  candidates: 'a step search of an arm, as in search: { bm25: {} }',
  sameChannel: "a step filter after search, as in filter: 'channel = $query.channel'",
};
export const FORMER_TRAINING_KEYS: readonly string[] = Object.keys(NOW_IN_FIT);

/** The key that replaces a key at the top of an earlier config. */
export function findTopReplacement(key: string): string | undefined {
  return NOW_IN_FIT[key] ?? findReplacement(key);
}

/** The key that replaces a key of earlier arms, with an example; undefined for any other key. */
export function findReplacement(key: string): string | undefined {
  return Object.hasOwn(NOW, key) ? NOW[key] : undefined;
}

/** The expectation of an error about a list of arms that are not written out. */
export const ARMS_BY_NAME = 'a mapping of arms by name, as in arms: { words: [search: { bm25: {} }] }';
