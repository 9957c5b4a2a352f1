import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { shortenToExcerpt, withNearest } from '../../core/validation/validation.ts';
import { STEP_NAMES } from '../../rank/retrieval/written-steps.ts';
import { describeUnknownArm, type ExpandedArm, type ExpandedArms, type Layer, selectInheritable } from './arms.ts';
import { isPlain, listLeafPaths, merge, type Path, type Plain, setPath } from './config-file.ts';
import { CONFIG_LIMITS } from './config-limits.ts';

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
  if (arm.steps === undefined || arm[first] !== undefined || first === 'embedding' || first === 'seed') return path;
  const { search } = arm;
  return isPlain(search) && search[first] !== undefined ? ['search', ...path] : null;
}

/** Writes short forms of a step's options out, so that paths lead into them: `decay: 24` is `decay: { halfLifeHours: 24 }`. */
function writeOut(name: string, content: unknown): unknown {
  if (name === 'decay' && typeof content === 'number') return { halfLifeHours: content };
  if (METHODS.includes(name) && typeof content === 'string') return { [content]: {} };
  if (name !== 'blend' || !isPlain(content)) return content;
  const parts = Object.entries(content).map(([key, part]) => [key, typeof part === 'number' ? { weight: part } : part]);
  return Object.fromEntries(parts);
}

/** Steps whose options are a method with its own. */
const METHODS: readonly string[] = ['fuse', 'select', 'rerank'];

/** The order of an arm's steps with those that a level of a sweep adds, each before the first one that usually follows it. */
export function placeAddedSteps({ steps, ...arm }: Plain): string[] {
  const order = [...(steps as readonly string[])];
  for (const [place, name] of STEP_NAMES.entries()) {
    if (order.includes(name) || (arm[name] ?? null) === null) continue;
    const next = order.findIndex((other) => STEP_NAMES.indexOf(other) > place);
    order.splice(next < 0 ? order.length : next, 0, name);
  }
  return order;
}

/** The words that a path of an arm may begin with. */
function listPathStarts(arm: Plain): string[] {
  const sources = isPlain(arm.search) ? Object.keys(arm.search) : [];
  return [...STEP_NAMES.filter((name) => arm[name] !== undefined), ...sources];
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

  addFault(path: Path, expected: string, got: unknown, known?: readonly string[]): void {
    const keys = [...this.#keyPath, ...path].map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`));
    const fault = { path: keys.join('').replace(/^\./, ''), expected, got: shortenToExcerpt(got) };
    this.faults.push(known === undefined ? fault : withNearest(fault, String(got), known));
  }

  /** @param item a step as it is written: a mapping of one key, or a name alone. */
  addStep(item: unknown, at: Path): void {
    const entries = typeof item === 'string' ? [[item, {}] as const] : isPlain(item) ? Object.entries(item) : [];
    const [[written, content] = ['', null], ...others] = entries;
    const name = written.replace(/\+$/, '');
    if (entries.length === 0 || others.length > 0)
      return void this.addFault(at, 'one step: its name with its options', item);
    if (!STEP_NAMES.includes(name))
      return void this.addFault([...at, written], `a step: ${STEP_NAMES.join(', ')}`, name, STEP_NAMES);
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
    const options = writeOut(name, content);
    const joined = isAdded && isPlain(before) && isPlain(options) ? merge(before, options) : options;
    this.arm = { ...this.arm, [name]: joined };
    this.layers.push({ keyPath: [...this.#keyPath, ...at, written], at: [name], content });
    this.differences.push(...(isPlain(content) ? listLeafPaths({ [name]: content }) : [[name]]));
  }

  /** @returns the path within the arm, or null after a fault. */
  #resolve(path: string, at: string): Path | null {
    const keys = resolveArmPath(this.arm, path.split('.'));
    const starts = listPathStarts(this.arm);
    if (keys === null)
      this.addFault(
        [at, path],
        `a path that begins with a step or a source of the arm (${starts.join(', ')})`,
        path,
        starts,
      );
    return keys;
  }

  setValue(path: string, value: unknown): void {
    const keys = this.#resolve(path, 'set');
    if (keys === null) return;
    this.arm = structuredClone(this.arm);
    if (!setPath(this.arm, keys, structuredClone(value)))
      return void this.addFault(['set', path], 'a path to an option of the arm', value);
    const [first = ''] = keys;
    this.arm[first] = writeOut(first, this.arm[first]);
    this.layers.push({ keyPath: [...this.#keyPath, 'set', path], at: keys, content: value });
    this.differences.push(keys);
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
    writer.arm = structuredClone(selectInheritable(start.options as Plain));
    const { steps: _, ...rest } = writer.arm;
    writer.arm = { ...rest, steps: [] };
    for (const key of Object.keys(own))
      if (!ARM_KEYS.includes(key)) writer.addFault([key], `one of ${ARM_KEYS.join(', ')}`, key, ARM_KEYS);
    if (!Array.isArray(written) && !isPlain(written)) writer.addFault([], 'a list of steps, or a mapping', written);
    if (own.then !== undefined && own.from === undefined)
      writer.addFault(['then'], 'an arm in from, whose steps these follow; or steps', own.then);
    if (own.steps !== undefined && own.from !== undefined)
      writer.addFault(['steps'], 'then, whose steps follow those of the arm that from names', own.steps);
    const items = list === null ? [] : own[list === '' ? 'steps' : list];
    if (list !== null && !Array.isArray(items)) writer.addFault([list], 'a list of steps', items);
    const top: Layer = {
      keyPath,
      at: [],
      content: Object.fromEntries(Object.entries(own).filter(([key]) => !UNREAD.includes(key))),
    };
    for (const [i, item] of (Array.isArray(items) ? items : []).entries())
      writer.addStep(item, list === '' ? [String(i)] : [list as string, String(i)]);
    for (const [path, value] of Object.entries(isPlain(own.set) ? own.set : {})) writer.setValue(path, value);
    if (own.set !== undefined && !isPlain(own.set)) writer.addFault(['set'], 'values by their paths', own.set);
    const { description, embedding, seed, control } = own;
    const others = Object.fromEntries(
      Object.entries({
        description,
        embedding,
        seed,
        control,
        ...(own.from === undefined ? {} : { extends: own.from }),
      }).filter(([, value]) => value !== undefined),
    );
    const tune = isPlain(own.tune) ? writer.resolveTuned(own.tune) : own.tune;
    const options: Plain = {
      ...merge(writer.arm, others),
      name,
      ...(tune === undefined ? {} : { tune }),
      steps: listSteps(writer.arm),
      differences: [...writer.differences.map((path) => path.join('.')), ...listOwnDifferences(others)],
    };
    const arm = { options, layers: [...start.layers, top, ...writer.layers], keyPath };
    if (arm.layers.length - this.#root.layers.length > CONFIG_LIMITS.armChain * MOST_LAYERS)
      writer.addFault(['from'], `at most ${CONFIG_LIMITS.armChain} arms that start from each other in a row`, own.from);
    const isOrphan = own.from !== undefined && (start === this.#root || this.#broken.has(String(own.from)));
    if (writer.faults.length > 0 || isOrphan) {
      this.#broken.add(name);
      this.unread.add(`arms[${this.arms.length}]`);
    }
    this.faults.push(...writer.faults);
    this.arms.push(arm);
    this.#byName.set(name, arm);
  }
}

/** Keys whose content stands in layers of its own, or elsewhere in the arm. */
const UNREAD: readonly string[] = ['from', 'steps', 'then', 'set', 'tune'];

/** Layers of an arm, at most, that its chain of parents may have on average. */
const MOST_LAYERS = 100;

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
