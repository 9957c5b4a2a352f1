import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getValueAt, shortenToExcerpt, withNearest } from '../../core/validation/validation.ts';
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

/** Keys that belong to one arm alone and are not taken over by the arms that extend it. */
export const OWN_KEYS: readonly string[] = [
  'name',
  'description',
  'extends',
  'tune',
  'levels',
  'differences',
  'control',
  'repeats',
];

/** Bytes: a file system takes names of 255, and endings follow. */
const LONGEST_FILE_NAME = 120;

/** The beginning of a text, up to a number of bytes; a stream waits for the rest of a character that was cut, and it never comes. */
function cutToBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

/** An arm's name as a file and as a run tag: `+ IRCP, directed` is `ircp-directed`. A level below zero keeps its sign, a name that is too long gets a hash. */
export function formatFileName(armName: string): string {
  const name = armName
    .toLowerCase()
    .replace(/=-(?=\d)/g, '=minus-')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  if (Buffer.byteLength(name) <= LONGEST_FILE_NAME) return name;
  return `${cutToBytes(name, LONGEST_FILE_NAME - 9)}-${computeHash(armName).slice(0, 8)}`;
}

/** A layer of an arm, and its path in the config. */
export interface Layer {
  readonly keyPath: Path;
  /** The path within the arm that it is about; empty for a whole arm. */
  readonly at: Path;
  readonly content: unknown;
}

/** An arm written out in full, still unchecked. */
export interface ExpandedArm {
  readonly options: unknown;
  /** In the order of precedence, the last first: experiment, arms that it starts from, the arm, levels of a sweep. */
  readonly layers: readonly Layer[];
  /** Where it is written; null for an arm of a sweep. */
  readonly keyPath: Path | null;
}

/** True if a layer has a value at a path within its arm. */
export function hasValueAt({ at, content }: Layer, keys: Path): boolean {
  return at.every((key, i) => key === keys[i]) && getValueAt(content, keys.slice(at.length)) !== undefined;
}

/**
 * The place where the longest part of a path within an arm is written. The rest of the path follows, unless a short
 * form stands for it.
 *
 * @returns undefined if no part of it is written, or only in the options of the experiment.
 */
export function findPartPath(layers: readonly Layer[], keys: Path): Path | undefined {
  for (let length = keys.length; length > 0; length--) {
    const part = keys.slice(0, length);
    const writer = layers.findLast((layer) => layer.keyPath.length > 0 && hasValueAt(layer, part));
    if (writer === undefined) continue;
    const value = getValueAt(writer.content, part.slice(writer.at.length));
    const isShort = value !== null && typeof value !== 'object';
    return [...writer.keyPath, ...(isShort ? part : keys).slice(writer.at.length)];
  }
  return undefined;
}

/** Where in the config the value of an arm is written that counts, or undefined where nobody wrote it. */
export function findArmValuePath({ layers }: ExpandedArm, keys: Path): Path | undefined {
  const writer = layers.findLast((layer) => hasValueAt(layer, keys));
  return writer === undefined ? findPartPath(layers, keys) : [...writer.keyPath, ...keys.slice(writer.at.length)];
}

/** Names in a message. */
const LISTED_NAMES = 20;

/** Faults that get a hint, which takes a look at every name. */
const HINTED_FAULTS = 20;

/** A list of names, shortened to stay readable. */
export function joinNames(names: readonly string[]): string {
  if (names.length <= LISTED_NAMES) return names.join(', ');
  return `${names.slice(0, LISTED_NAMES).join(', ')} and ${names.length - LISTED_NAMES} more`;
}

/**
 * A name that is of no arm.
 *
 * @param before how many faults of this kind there are already.
 */
export function describeUnknownArm(
  { path, expected }: { readonly path: string; readonly expected: string },
  wanted: unknown,
  names: readonly string[],
  before = 0,
): ConfigurationFault {
  const fault = {
    path,
    expected: `${expected} (${joinNames(names) || 'there is none'})`,
    got: shortenToExcerpt(wanted),
  };
  return before < HINTED_FAULTS ? withNearest(fault, String(wanted), names) : fault;
}

/** The options that an arm passes to arms that extend it. */
export function selectInheritable(arm: Plain): Plain {
  return Object.fromEntries(Object.entries(arm).filter(([key]) => !OWN_KEYS.includes(key)));
}

/** Arms written out, and what is wrong with them. */
export interface ExpandedArms {
  readonly arms: readonly ExpandedArm[];
  readonly faults: readonly ConfigurationFault[];
  /** The places of arms that are not whole, whose other faults follow from that. */
  readonly unread: ReadonlySet<string>;
}

/** True if arms are a list that was written out before: each has the order of its steps. */
export function areResolvedArms(arms: unknown): arms is readonly Plain[] {
  return Array.isArray(arms) && arms.every((arm) => isPlain(arm) && Array.isArray(arm.steps));
}

/** Arms that were written out before, each whole, and an error for each that extends an arm that is not before it. */
export function readResolvedArms(raw: readonly Plain[], shared: Plain): ExpandedArms {
  const root: Layer = { keyPath: [], at: [], content: shared };
  const names: string[] = [];
  const faults: ConfigurationFault[] = [];
  const arms = raw.map((options, i): ExpandedArm => {
    const keyPath = ['arms', String(i)];
    const fault = { path: `arms[${i}].extends`, expected: 'an arm before it' };
    if (options.extends !== undefined && !names.includes(options.extends as string))
      faults.push(describeUnknownArm(fault, options.extends, names, faults.length));
    names.push(String(options.name));
    return { options, layers: [root, { keyPath, at: [], content: options }], keyPath };
  });
  return { arms, faults, unread: new Set() };
}

/** An arm without the experiment's options that no layer of the arm sets: these stay those of the experiment. */
export function withoutSharedOptions(arm: ExpandedArm): ExpandedArm {
  const { options, layers } = arm;
  if (!isPlain(options)) return arm;
  const tuned = isPlain(options.tune) ? Object.keys(options.tune) : [];
  const isOwn = (key: string) =>
    layers.slice(1).some((layer) => layer.at[0] === key || hasValueAt(layer, [key])) ||
    tuned.some((path) => path.split('.')[0] === key);
  const shared = Object.keys(layers[0]?.content ?? {});
  const own = Object.entries(options).filter(([key]) => !shared.includes(key) || isOwn(key));
  return { ...arm, options: Object.fromEntries(own) };
}

export function findExpandedArm(arms: readonly ExpandedArm[], name: unknown): ExpandedArm | undefined {
  return arms.find(({ options }) => isPlain(options) && options.name === name);
}

/** All combinations of the values of each path, the last path changing fastest; one empty combination without tuning. */
export function listCombinations(tune: Readonly<Record<string, readonly unknown[]>>): Plain[] {
  return Object.entries(tune).reduce<Plain[]>(
    (grid, [path, values]) => grid.flatMap((point) => values.map((value) => ({ ...point, [path]: value }))),
    [{}],
  );
}

/** The number of combinations. */
export function countCombinations(tune: Readonly<Record<string, readonly unknown[]>>): number {
  return Object.values(tune).reduce((product, values) => product * values.length, 1);
}
