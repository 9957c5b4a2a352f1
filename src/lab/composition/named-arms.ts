import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { shortenToExcerpt, withNearest } from '../../core/validation/validation.ts';
import { STEP_NAMES } from '../../rank/retrieval/written-steps.ts';
import {
  describeUnknownArm,
  type ExpandedArm,
  type ExpandedArms,
  type Layer,
  OWN_KEYS,
  selectInheritable,
} from './arms.ts';
import { isPlain, listLeafPaths, merge, type Path, type Plain, setPath } from './config-file.ts';
import { CONFIG_LIMITS } from './config-limits.ts';
import { findReplacement } from './former-keys.ts';
import { expandShortStep, expandShortValue } from './short-steps.ts';

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

/**
 * The keys within an arm that a path leads through: a path begins with a step, or with a source of its search.
 *
 * @returns null for a path that begins with neither.
 */
export function resolveArmPath(arm: Plain, path: Path): Path | null {
  const [first = ''] = path;
  if (arm[first] !== undefined || first === 'embedding' || first === 'seed') return path;
  const { search } = arm;
  return isPlain(search) && search[first] !== undefined ? ['search', ...path] : null;
}

/** The words that a path of an arm may begin with. */
function listPathStarts(arm: Plain): string[] {
  const sources = isPlain(arm.search) ? Object.keys(arm.search) : [];
  return [...STEP_NAMES.filter((name) => arm[name] !== undefined), ...sources];
}

/**
 * An arm with the steps that its order lacks. Each is placed before the first step that comes after it in the list of
 * all steps.
 */
export function withPlacedSteps(arm: Plain): Plain {
  if (!Array.isArray(arm.steps)) return arm;
  const steps: string[] = [...arm.steps];
  const isAdded = (name: string) => !steps.includes(name) && arm[name] !== undefined && arm[name] !== null;
  for (const [order, name] of STEP_NAMES.entries())
    if (isAdded(name)) {
      const at = steps.findIndex((other) => STEP_NAMES.indexOf(other) > order);
      steps.splice(at < 0 ? steps.length : at, 0, name);
    }
  return { ...arm, steps };
}

/** The order of the steps is that in which they were written. */
const listSteps = (arm: Plain) => Object.keys(arm).filter((key) => STEP_NAMES.includes(key));

/** Writes one arm out: what it begins with, its steps one after the other, then single values. */
class ArmWriter {
  readonly faults: ConfigurationFault[] = [];
  readonly layers: Layer[] = [];
  readonly differences: Path[] = [];
  readonly #keyPath: Path;
  arm: Plain;

  constructor(keyPath: Path, start: Plain) {
    this.#keyPath = keyPath;
    this.arm = start;
  }

  addFault(path: Path, expected: string, got: unknown, known?: readonly string[], word = String(got)): void {
    const keys = path.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`));
    const fault = { path: [this.#keyPath.join('.'), ...keys].join(''), expected, got: shortenToExcerpt(got) };
    this.faults.push(known === undefined ? fault : withNearest(fault, word, known));
  }

  /** Adds an error about an unknown word, or about a key of earlier arms with the key that replaces it. */
  addUnknown(path: Path, expected: string, word: string, known: readonly string[]): void {
    const replacement = findReplacement(word);
    if (replacement === undefined) this.addFault(path, expected, word, known);
    else this.addFault(path, replacement, word);
  }

  /** @param item a step as it is written: a mapping of one key, or a name alone. */
  addStep(item: unknown, at: Path): void {
    const entries = typeof item === 'string' ? [[item, {}] as const] : isPlain(item) ? Object.entries(item) : [];
    const [[written, given] = ['', null], ...others] = entries;
    const name = written.replace(/\+$/, '');
    const content = expandShortStep(name, given);
    if (entries.length === 0 || others.length > 0)
      return void this.addFault(at, 'one step: its name with its options', item);
    if (!STEP_NAMES.includes(name))
      return void this.addUnknown([...at, written], `a step: ${STEP_NAMES.join(', ')}`, name, STEP_NAMES);
    const before = this.arm[name];
    const isAdded = written !== name || (before !== undefined && ADDING.includes(name));
    if (isAdded && !isPlain(before) && written !== name)
      return void this.addFault([...at, written], `a step ${name} before it, which it adds to`, item);
    if (!isAdded && before !== undefined)
      return void this.addFault(
        [...at, written],
        `each step once; ${name === 'search' ? 'search+ adds sources' : `set changes ${name}`}`,
        item,
      );
    const joined = isAdded && isPlain(before) && isPlain(content) ? merge(before, content) : content;
    this.arm = { ...this.arm, [name]: joined };
    this.layers.push({ keyPath: [...this.#keyPath, ...at, written], at: [name], content: given });
    this.differences.push(...(isPlain(given) ? listLeafPaths({ [name]: given }) : [[name]]));
  }

  /** @returns the path within the arm, or null after a fault. */
  #resolve(path: string, at: string): Path | null {
    const keys = resolveArmPath(this.arm, path.split('.'));
    const starts = listPathStarts(this.arm);
    if (keys !== null) return keys;
    const expected = `a path that begins with a step or a source of the arm (${starts.join(', ')})`;
    const first = path.split('.')[0] as string;
    const replacement = OWN_KEYS.includes(first) ? undefined : findReplacement(first);
    if (replacement === undefined) this.addFault([at, path], expected, path, starts, first);
    else this.addFault([at, path], `${expected}; ${replacement}`, path);
    return null;
  }

  setValue(path: string, value: unknown): void {
    const keys = this.#resolve(path, 'set');
    if (keys === null) return;
    this.arm = structuredClone(this.arm);
    if (!setPath(this.arm, keys, structuredClone(expandShortValue(keys, value))))
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
    writer.arm = { ...inherited, steps: [] };
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
    if (STEP_NAMES.includes(key)) writer.addFault([key], `a step in a list, as in then: [${key}: ...]`, own[key]);
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
