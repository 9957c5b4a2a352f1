import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { shortenToExcerpt, withNearest } from '../../core/validation/validation.ts';
import { findStepKind, mayRepeat, STEPS, type StepKey, type StepNames } from '../../rank/retrieval/steps/keys.ts';
import { describeRepeated, findNameFault, nameFurtherStep, readStepItem } from '../../rank/retrieval/written-steps.ts';
import {
  describeUnknownArm,
  type ExpandedArm,
  type ExpandedArms,
  expandShortStep,
  expandShortValue,
  findReplacement,
  type Layer,
  OWN_KEYS,
  readStepKind,
  selectInheritable,
} from './arms.ts';
import { isPlain, listLeafPaths, merge, type Path, type Plain, parsePath, setPath } from './config-file.ts';
import { CONFIG_LIMITS } from './yaml-text.ts';

/** What an arm of a mapping may have besides its steps. */
const ARM_KEYS: readonly string[] = [
  'description',
  'from',
  'steps',
  'then',
  'set',
  'tune',
  'embedding',
  'seed',
  'control',
];

/** Steps whose options are a mapping of parts, to which a later step of the same name adds. */
const ADDING: readonly string[] = ['blend'];

const readNames = ({ as }: Plain) => as as StepNames | undefined;
const isStep = (arm: Plain, name: string) => findStepKind(name, readNames(arm)) !== undefined;

/** The steps of the kind of a name that stands twice in an arm without `as`; none where the name stands for one step. */
const listNumbered = (arm: Plain, kind: string): string[] =>
  Object.entries(readNames(arm) ?? {}).flatMap(([name, of]) =>
    of === kind && name.startsWith(`${kind}-`) ? [name] : [],
  );

/**
 * The keys within an arm that a path leads through: a path begins with a step, or with a source of its search. Keys with dots are found as the longest that
 * there are.
 *
 * @returns null for a path that begins with neither, and for one that begins with a step that stands twice.
 */
export function resolveArmPath(arm: Plain, path: string): Path | null {
  const search = isPlain(arm.search) ? arm.search : {};
  const keys = parsePath(path, { ...search, ...arm });
  const [first = ''] = keys;
  if (listNumbered(arm, first).length > 0) return null;
  if (arm[first] !== undefined || ['embedding', 'seed', 'unchanged'].includes(first)) return keys;
  return search[first] !== undefined ? ['search', ...keys] : null;
}

/** The words that a path of an arm may begin with. */
function listPathStarts(arm: Plain): string[] {
  const sources = isPlain(arm.search) ? Object.keys(arm.search) : [];
  const names = [...STEPS.names, ...Object.keys(readNames(arm) ?? {})];
  return [...names.filter((name) => arm[name] !== undefined), ...sources];
}

/** A part of an arm laid over it: a step of another method takes the place of the one before, whatever its name is. */
export function mergeSteps(arm: Plain, part: Plain): Plain {
  const isOther = (name: string, content: unknown) =>
    ['rerank', 'select'].includes(readStepKind(arm, name)) &&
    isPlain(content) &&
    isPlain(arm[name]) &&
    Object.keys(content)[0] !== Object.keys(arm[name])[0];
  const others = Object.entries(part).filter(([name, content]) => isOther(name, content));
  return { ...merge(arm, part), ...Object.fromEntries(others) };
}

/** The place of a kind of steps among all of them: a step of a plugin follows those that take what it takes. */
function rankStep(name: string): number {
  const own = STEPS.find(name);
  const last = STEPS.members.findLastIndex(({ takes }, i) => i < STEPS.ownCount && takes[0] === own?.takes[0]);
  const order = STEPS.names.indexOf(name);
  return order < STEPS.ownCount ? order : last + 0.5;
}

/**
 * An arm with the steps that its order lacks. Each is placed before the first step that comes after it in the list of
 * all steps.
 */
export function withPlacedSteps(arm: Plain): Plain {
  if (!Array.isArray(arm.steps)) return arm;
  const steps: string[] = [...arm.steps];
  const isAdded = (name: string) => !steps.includes(name) && arm[name] !== undefined && arm[name] !== null;
  for (const name of STEPS.names)
    if (isAdded(name)) {
      const at = steps.findIndex((other) => rankStep(readStepKind(arm, other)) > rankStep(name));
      steps.splice(at < 0 ? steps.length : at, 0, name);
    }
  return { ...arm, steps };
}

/** The order of the steps is that in which they were written. */
const listSteps = (arm: Plain) => Object.keys(arm).filter((key) => isStep(arm, key));

/** `arms.fading.then[0].decay` */
const formatKeys = (keys: Path): string =>
  keys
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');

/** Writes one arm out: what it begins with, its steps one after the other, then single values. */
class ArmWriter {
  readonly faults: ConfigurationFault[] = [];
  readonly layers: Layer[] = [];
  readonly differences: Path[] = [];
  readonly #keyPath: Path;
  /** Where each step is written. */
  readonly #paths = new Map<string, string>();
  arm: Plain;

  constructor(keyPath: Path, start: Plain) {
    this.#keyPath = keyPath;
    this.arm = start;
  }

  /** Begins with the steps of another arm. */
  startFrom(arm: Plain, layers: readonly Layer[]): void {
    this.arm = arm;
    for (const { keyPath, at } of layers) if (at.length === 1) this.#paths.set(at[0] as string, formatKeys(keyPath));
  }

  addFault(path: Path, expected: string, got: unknown, known?: readonly string[], word = String(got)): void {
    const fault = { path: formatKeys([...this.#keyPath, ...path]), expected, got: shortenToExcerpt(got) };
    this.faults.push(known === undefined ? fault : withNearest(fault, word, known));
  }

  /** Adds an error about an unknown word, or about a key of earlier arms with the key that replaces it. */
  addUnknown(path: Path, expected: string, word: string, known: readonly string[]): void {
    const replacement = findReplacement(word);
    if (replacement === undefined) this.addFault(path, expected, word, known);
    else this.addFault(path, replacement, word);
  }

  /** @param item a step as written: a mapping of one key, perhaps with `as` and `unchanged` beside it, or a name alone. */
  addStep(item: unknown, at: Path): void {
    const read = readStepItem(item);
    if (read === null) return void this.addFault(at, 'one step: its name with its options', item);
    const { kind: written, options: given } = read;
    const kind = written.replace(/\+$/, '');
    const content = expandShortStep(kind, given);
    if (STEPS.find(kind) === undefined)
      return void this.addUnknown([...at, written], `a step: ${STEPS.names.join(', ')}`, kind, STEPS.names);
    const path = [...at, written];
    const own = read.as === undefined ? null : String(read.as);
    const before = this.arm[own ?? kind];
    const isAdded = written !== kind || (before !== undefined && ADDING.includes(kind));
    if (written !== kind && !isPlain(before))
      return void this.addFault(path, `a step ${own ?? kind} before it, which it adds to`, item);
    const name = isAdded ? (own ?? kind) : this.#nameStep(read.as, kind, path, at, item);
    if (name === null) return;
    const reasons = this.arm.unchanged as Plain | undefined;
    const joined = isAdded && isPlain(before) && isPlain(content) ? merge(before, content) : content;
    const names = name === kind ? {} : { as: { ...readNames(this.arm), [name]: kind } };
    const reason = read.unchanged === undefined ? {} : { unchanged: { ...reasons, [name]: read.unchanged } };
    this.arm = { ...this.arm, [name]: joined, ...names, ...reason };
    this.layers.push({ keyPath: [...this.#keyPath, ...path], at: [name], content: given });
    this.#paths.set(name, formatKeys([...this.#keyPath, ...path]));
    this.differences.push(...(isPlain(given) ? listLeafPaths({ [name]: given }) : [[name]]));
  }

  /** The name of a step in its arm, or null after a fault. */
  #nameStep(as: unknown, kind: string, path: Path, at: Path, item: unknown): string | null {
    if (as !== undefined) {
      const fault = mayRepeat(STEPS.find(kind) as StepKey) ? findNameFault(as) : `nothing: an arm has one ${kind}`;
      const taken = this.#paths.get(String(as));
      const expected = fault ?? (taken === undefined ? null : `another name than that of ${taken}`);
      if (expected === null) return String(as);
      this.addFault([...at, 'as'], expected, as);
      return null;
    }
    const placed = listSteps(this.arm).filter((name) => this.arm[name] !== null);
    const further = nameFurtherStep(placed, readNames(this.arm), kind);
    if ('name' in further) return further.name;
    const first = this.#paths.get(further.taken) ?? further.taken;
    const change = kind === 'search' ? 'search+ adds sources' : `set changes ${further.taken}`;
    this.addFault(path, `${describeRepeated(kind, first)}; ${change}`, item);
    return null;
  }

  /** @returns the path within the arm, or null after a fault. */
  #resolve(path: string, at: string): Path | null {
    const keys = resolveArmPath(this.arm, path);
    const starts = listPathStarts(this.arm);
    if (keys !== null) return keys;
    const first = path.split('.')[0] as string;
    const twice = listNumbered(this.arm, first);
    if (twice.length > 0) {
      const paths = [first, ...twice].map((name) => this.#paths.get(name) ?? name).join(' and ');
      this.addFault([at, path], `one step ${first}, which is at ${paths}; write as: NAME beside one of them`, path);
      return null;
    }
    const expected = `a path that begins with a step or a source of the arm (${starts.join(', ')})`;
    const replacement = OWN_KEYS.includes(first) ? undefined : findReplacement(first);
    if (replacement === undefined) this.addFault([at, path], expected, path, starts, first);
    else this.addFault([at, path], `${expected}; ${replacement}`, path);
    return null;
  }

  setValue(path: string, value: unknown): void {
    const keys = this.#resolve(path, 'set');
    if (keys === null) return;
    this.arm = structuredClone(this.arm);
    if (!setPath(this.arm, keys, structuredClone(expandShortValue(this.arm, keys, value))))
      return void this.addFault(['set', path], 'a path to an option of the arm', value);
    this.layers.push({ keyPath: [...this.#keyPath, 'set', path], at: keys, content: value });
    this.differences.push(keys);
  }

  /** The arm written out, with the order of its steps. */
  writeOptions(name: string, own: Plain): Plain {
    const { description, embedding, seed, control, from } = own;
    const given = Object.entries({ description, embedding, seed, control, extends: from });
    const others = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const tune = isPlain(own.tune) ? this.resolveTuned(own.tune) : own.tune;
    return {
      ...merge(this.arm, others),
      name,
      ...(tune === undefined ? {} : { tune }),
      steps: listSteps(this.arm),
      differences: [...this.differences.map((path) => path.join('.')), ...listOwnDifferences(others)],
    };
  }

  /** The values that tuning tries, by their whole paths. */
  resolveTuned(tune: Plain): Plain {
    const entries = Object.entries(tune).map(([path, values]) => {
      const keys = this.#resolve(path, 'tune');
      const name = keys === null ? path : keys.join('.');
      this.layers.push({ keyPath: [...this.#keyPath, 'tune', path], at: ['tune', name], content: values });
      return keys === null ? null : ([name, values] as const);
    });
    return Object.fromEntries(entries.filter((entry) => entry !== null));
  }
}

/** A list of steps, or a mapping; a list stands for its key `steps`. */
function readWritten(written: unknown): { readonly own: Plain; readonly list: string | null } {
  if (Array.isArray(written)) return { own: { steps: written }, list: '' };
  const own = isPlain(written) ? written : {};
  return { own, list: own.steps !== undefined ? 'steps' : own.then !== undefined ? 'then' : null };
}

/** Writes arms out one after the other, so that each finds those before it. */
class NamedArms {
  readonly arms: ExpandedArm[] = [];
  readonly faults: ConfigurationFault[] = [];
  /** The places of arms that are not whole, and of those that start from them: what follows from that is no fault of its own. */
  readonly unread = new Set<string>();
  readonly #broken = new Set<string>();
  readonly #root: ExpandedArm;
  readonly #byName = new Map<unknown, ExpandedArm>();
  /** The arms that start from each other up to each one. */
  readonly #lengths = new Map<unknown, number>();

  constructor(shared: Plain) {
    this.#root = { options: shared, layers: [{ keyPath: [], at: [], content: shared }], keyPath: null };
  }

  #findStart(own: Plain, writer: ArmWriter): ExpandedArm {
    if (own.from === undefined) return this.#root;
    const parent = this.#byName.get(own.from);
    if (parent !== undefined) return parent;
    const fault = { path: `arms.${writer.arm.name}.from`, expected: 'an arm before it' };
    this.faults.push(describeUnknownArm(fault, own.from, [...this.#byName.keys()].map(String), this.faults.length));
    return this.#root;
  }

  add(name: string, written: unknown): void {
    const keyPath = ['arms', name];
    const { own, list } = readWritten(written);
    const writer = new ArmWriter(keyPath, { name });
    const start = this.#findStart(own, writer);
    const { steps: _, ...inherited } = structuredClone(selectInheritable(start.options as Plain));
    writer.startFrom({ ...inherited, steps: [] }, start.layers);
    checkKeys(written, own, writer);
    const items = list === null ? [] : own[list === '' ? 'steps' : list];
    if (list !== null && !Array.isArray(items)) writer.addFault([list], 'a list of steps', items);
    for (const [i, item] of (Array.isArray(items) ? items : []).entries())
      writer.addStep(item, list === '' ? [String(i)] : [list as string, String(i)]);
    for (const [path, value] of Object.entries(isPlain(own.set) ? own.set : {})) writer.setValue(path, value);
    this.#checkChain(name, own, writer);
    const options = writer.writeOptions(name, own);
    const content = Object.fromEntries(Object.entries(own).filter(([key]) => !UNREAD.includes(key)));
    const layers = [...start.layers, { keyPath, at: [], content }, ...writer.layers];
    this.#keep(name, { options, layers, keyPath }, writer.faults, start);
  }

  /** Reports a chain of arms that is too long once, at the first arm beyond the limit. */
  #checkChain(name: string, { from }: Plain, writer: ArmWriter): void {
    const length = (this.#lengths.get(from) ?? 0) + 1;
    this.#lengths.set(name, length);
    if (length !== CONFIG_LIMITS.armChain + 1) return;
    const expected = `at most ${CONFIG_LIMITS.armChain} arms that start from each other in a row`;
    writer.addFault(['from'], `${expected}; let this arm start from an earlier one`, from);
  }

  #keep(name: string, arm: ExpandedArm, faults: readonly ConfigurationFault[], start: ExpandedArm): void {
    const { extends: from } = arm.options as Plain;
    const isOrphan = from !== undefined && (start === this.#root || this.#broken.has(String(from)));
    if (faults.length > 0 || isOrphan) {
      this.#broken.add(name);
      this.unread.add(`arms[${this.arms.length}]`);
    }
    this.faults.push(...faults);
    this.arms.push(arm);
    this.#byName.set(name, arm);
  }
}

/** Keys that an arm does not have, or not beside others. */
function checkKeys(written: unknown, own: Plain, writer: ArmWriter): void {
  for (const key of Object.keys(own))
    if (STEPS.find(key) !== undefined) writer.addFault([key], `a step in a list, as in then: [${key}: ...]`, own[key]);
    else if (!ARM_KEYS.includes(key)) writer.addUnknown([key], `one of ${ARM_KEYS.join(', ')}`, key, ARM_KEYS);
  if (!Array.isArray(written) && !isPlain(written)) writer.addFault([], 'a list of steps, or a mapping', written);
  if (own.then !== undefined && own.from === undefined)
    writer.addFault(['then'], 'an arm in from, whose steps these follow; or steps', own.then);
  if (own.steps !== undefined && own.from !== undefined)
    writer.addFault(['steps'], 'then, whose steps follow those of the arm that from names', own.steps);
  if (own.set !== undefined && !isPlain(own.set)) writer.addFault(['set'], 'values by their paths', own.set);
}

/** Keys whose content stands in layers of its own, or elsewhere in the arm. */
const UNREAD: readonly string[] = ['from', 'steps', 'then', 'set', 'tune'];

const listOwnDifferences = ({ embedding, seed }: Plain): string[] =>
  listLeafPaths({ ...(isPlain(embedding) && { embedding }), ...(seed !== undefined && { seed }) }).map((path) =>
    path.join('.'),
  );

/**
 * Writes out arms that stand in a mapping by their names: a list of steps; or `from` an arm before it, `then` further steps, and `set` values by their paths.
 *
 * @param shared options of the experiment that an arm may change for itself.
 * @returns all arms, with the order of their steps as `steps`, every fault at the place where it is written, and the places of arms that are not whole.
 */
export function expandNamedArms(raw: Plain, shared: Plain = {}): ExpandedArms {
  const named = new NamedArms(shared);
  for (const [name, written] of Object.entries(raw)) named.add(name, written);
  return named;
}
