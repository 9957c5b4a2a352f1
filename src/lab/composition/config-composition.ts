import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check, getValueAt, withNearest } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import {
  applyOverrides,
  isPlain,
  type LocatedYaml,
  merge,
  nameSteps,
  type Path,
  type Plain,
  parsePath,
  readYamlWithLines,
} from './config-file.ts';
import { CONFIG_LIMITS, type FindLine } from './yaml-text.ts';

/** The keys that a file of each group may set, in the order in which groups are merged. */
const GROUPS = {
  dataset: ['dataset', 'embedding', 'plugins'],
  candidates: ['arms', 'plugins'],
  scoring: ['arms', 'plugins'],
  evaluation: ['evaluation', 'tuning', 'plugins'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Group = keyof typeof GROUPS;
const GROUP_NAMES = Object.keys(GROUPS) as readonly Group[];

const choice = z.string().min(1).optional();

/** Group -> the name of one of its files. */
export const groupOptions = z.strictObject({
  dataset: choice,
  candidates: choice,
  scoring: choice,
  evaluation: choice,
});

/** The folders that may hold `groups` for a config: its own, and those above it up to one named `configs`. */
function groupFolders(config: string): string[] {
  const own = dirname(config);
  const above = resolve(own).split(sep);
  const top = above.lastIndexOf('configs');
  const steps = top < 0 ? 0 : above.length - 1 - top;
  return Array.from({ length: steps + 1 }, (_, up) => join(own, ...Array<string>(up).fill('..'), 'groups'));
}

/**
 * The file of a group that a config names: the nearest one.
 *
 * @param config the path of the config.
 */
export function findGroup(
  config: string,
  group: Group,
  name: string,
): { readonly file: string; readonly nearer: readonly string[] } | { readonly fault: ConfigurationFault } {
  const folders = groupFolders(config).map((folder) => join(folder, group));
  const places = folders.map((folder) => join(folder, `${name}.yaml`));
  const file = places.find((path) => existsSync(path));
  if (file !== undefined) return { file, nearer: places.slice(0, places.indexOf(file)) };
  const known = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((entry) => entry.endsWith('.yaml'))
    .map((entry) => basename(entry, '.yaml'));
  const fault = {
    path: `groups.${group}`,
    expected: `a file groups/${group}/<name>.yaml beside the config (${known.join(', ') || 'there is none'})`,
    got: JSON.stringify(name),
  };
  return { fault: withNearest(fault, name, known) };
}

/** Keys of a group's file that are not of its group. */
export function findStrayKeys(group: Group, content: Plain): ConfigurationFault[] {
  const known: readonly string[] = GROUPS[group];
  return Object.keys(content)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const fault = { path: key, expected: `one of ${known.join(', ')}`, got: `unknown key ${JSON.stringify(key)}` };
      return withNearest(fault, key, known);
    });
}

/** The content of one file, without the files that it names. */
interface FileLayer {
  readonly file: string;
  readonly content: Plain;
  readonly group: Group | null;
  readonly findLine: FindLine;
  /** Nearer places, where the file of a group is not. */
  readonly nearer?: readonly string[];
}

/** A config composed of files and overrides, with the source of each value. */
export interface ComposedConfig {
  /** The requested file, or its name in messages. */
  readonly source: string;
  readonly isFile: boolean;
  readonly content: Plain;
  /** From the first to the last word. */
  readonly layers: readonly FileLayer[];
  /** The paths of all files that were read, and of those that would have been read in the place of one. */
  readonly files: readonly string[];
  /** Where overrides changed it. */
  readonly overridden: readonly Path[];
  /** If `dataset` is one of several. */
  readonly datasetPaths?: DatasetPaths;
}

/** Where the datasets of a config with several are written. */
export interface DatasetPaths {
  readonly chosen: Path;
  readonly byName: ReadonlyMap<string, Path>;
}

export const extendsOptions = z.union([z.string().min(1), z.array(z.string().min(1))]);

const references = z.strictObject({ extends: extendsOptions.optional(), groups: groupOptions.optional() });

/** Overrides of these keys determine the files, so they are applied before the others. */
const REFERENCE = /^(extends|groups)[.=]/;

/** A file by itself. */
interface ConfigFile {
  /** The paths of the files that it extends. */
  readonly others: readonly string[];
  /** True if they are written as a list. */
  readonly isList: boolean;
  readonly groups: readonly FileLayer[];
  readonly own: FileLayer;
}

/** Reads each file once, and collects the faults of all files to report them together. */
class FileReader {
  readonly faults: ConfigurationFault[] = [];
  readonly #source: string;
  readonly #early: readonly string[];
  readonly #files = new Map<string, ConfigFile>();
  readonly #lines = new Map<string, FindLine>();
  readonly #told = new Set<string>();
  #layers = 0;

  constructor(source: string, early: readonly string[]) {
    this.#source = source;
    this.#early = early;
  }

  #addFault(file: string, fault: ConfigurationFault): void {
    const line = this.#findLine(file, fault.path);
    const located = line === undefined ? fault : { ...fault, line };
    this.faults.push(file === this.#source ? located : { ...located, file });
  }

  /** The line of a key, unless an override wrote it. */
  #findLine(file: string, path: string): number | undefined {
    const keys = path.replace(/\[(\d+)\]/g, '.$1').split('.');
    const isOverridden = file === this.#source && this.#early.some((override) => REFERENCE.test(override));
    return isOverridden ? undefined : this.#lines.get(file)?.(keys);
  }

  /** An error in the chain of files that extend each other; only the first is reported. */
  #addChainFault(file: string, expected: string, got: string): void {
    if (this.#told.has(expected)) return;
    this.#told.add(expected);
    this.#addFault(file, { path: 'extends', expected, got });
  }

  /** A file that cannot be read, at the line of the file that extends it. */
  #addReferenceFault(file: string, { expected, got }: ConfigurationFault, referrer: string): void {
    const { others = [], isList } = this.#files.get(resolve(referrer)) ?? {};
    const path = isList ? `extends[${others.indexOf(file)}]` : 'extends';
    this.#addFault(referrer, { path, expected: `${expected} (${got})`, got: JSON.stringify(file) });
  }

  /** @param referrer the file that extends this one, or null. */
  #read(file: string, referrer: string | null = null): LocatedYaml {
    try {
      const { content, findLine } = readYamlWithLines(file);
      this.#lines.set(file, findLine);
      return { content: file === this.#source ? applyOverrides(content, this.#early) : content, findLine };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const { source } = error.facts as { readonly source: string };
      for (const fault of error.faults)
        if (fault.path === '(file)' && referrer !== null) this.#addReferenceFault(file, fault, referrer);
        else this.#addFault(source, fault);
      return { content: {}, findLine: () => undefined };
    }
  }

  #group(config: string, group: Group, name: string): FileLayer[] {
    const found = findGroup(config, group, name);
    if ('fault' in found) {
      this.#addFault(config, found.fault);
      return [];
    }
    const { file, nearer } = found;
    const { content, findLine } = this.#read(file);
    for (const fault of findStrayKeys(group, content)) this.#addFault(file, fault);
    return [{ file, content: locatePlugins(file, content), group, findLine, nearer }];
  }

  #open(file: string, referrer: string | null): ConfigFile {
    const { content, findLine } = this.#read(file, referrer);
    const { extends: files, groups, ...own } = content;
    const written = check(references, { extends: files, groups });
    if ('faults' in written) for (const fault of written.faults) this.#addFault(file, fault);
    // Follows valid references also if others are not, so that all errors are reported at once.
    const others = [files].flat().filter((other) => typeof other === 'string');
    const choices = isPlain(groups) ? groups : {};
    return {
      isList: Array.isArray(files),
      others: others.map((other) => (isAbsolute(other) ? other : join(dirname(file), other))),
      groups: GROUP_NAMES.flatMap((group) => {
        const name = choices[group];
        return typeof name === 'string' ? this.#group(file, group, name) : [];
      }),
      own: { file, content: locatePlugins(file, own), group: null, findLine },
    };
  }

  #openFileOnce(file: string, referrer: string | null): ConfigFile {
    return getOrCompute(this.#files, resolve(file), () => this.#open(file, referrer));
  }

  /** True if a file may be merged over the current config. */
  #isTaken(file: string, chain: readonly string[]): boolean {
    const last = chain.at(-1) ?? file;
    const known = chain.findIndex((earlier) => resolve(earlier) === resolve(file));
    const { chain: longest, layers: most } = CONFIG_LIMITS;
    if (known >= 0)
      this.#addFault(last, {
        path: 'extends',
        expected: 'files that do not extend each other',
        got: [...chain.slice(known), file].join(' -> '),
      });
    else if (chain.length >= longest)
      this.#addChainFault(last, `at most ${longest} files that extend each other in a row`, 'more; merge some of them');
    else if (++this.#layers > most)
      this.#addChainFault(
        last,
        `at most ${most} files in all, each counted as often as it is extended`,
        'more; extend each file once',
      );
    else return true;
    return false;
  }

  /** @param chain the files that lead here, for a cycle among them. */
  collectLayers(file: string, chain: readonly string[] = []): FileLayer[] {
    if (this.#layers > CONFIG_LIMITS.layers || !this.#isTaken(file, chain)) return [];
    const { others, groups, own } = this.#openFileOnce(file, chain.at(-1) ?? null);
    return [...others.flatMap((other) => this.collectLayers(other, [...chain, file])), ...groups, own];
  }
}

/** Stands for the file of a value that an override wrote. */
const OVERRIDE = '--set';

/** The later arms by the name of an earlier one change it, the others follow. */
function mergeNamedArms(earlier: Plain, later: Plain): Plain {
  const merged = { ...earlier };
  for (const [name, arm] of Object.entries(later)) {
    const start = nameSteps(merged[name]);
    merged[name] = isPlain(start) && isPlain(arm) ? merge(start, arm) : arm;
  }
  return merged;
}

/** Arms are merged by name, and lists of plugins add up, since later keys name members of both. */
function layOver(earlier: Plain, later: Plain): Plain {
  const hasBoth = (key: string) => Array.isArray(earlier[key]) && Array.isArray(later[key]);
  const lists = (key: string) => [earlier[key] as unknown[], later[key] as unknown[]] as const;
  return {
    ...merge(earlier, later),
    ...(isPlain(earlier.arms) && isPlain(later.arms) ? { arms: mergeNamedArms(earlier.arms, later.arms) } : {}),
    ...(hasBoth('plugins') ? { plugins: [...new Set(lists('plugins').flat())] } : {}),
  };
}

/** The content of a file with the paths of its plugins, which are relative to it, absolute. */
function locatePlugins(file: string, { plugins, ...content }: Plain): Plain {
  if (plugins === undefined) return content;
  if (!Array.isArray(plugins)) return { ...content, plugins };
  const locate = (entry: unknown) => (typeof entry === 'string' ? resolve(dirname(file), entry) : entry);
  return { ...content, plugins: plugins.map(locate) };
}

/**
 * Reads a config with the files that it extends and the groups that it names: first the extended files in their order, then the groups, then its own keys, then
 * the overrides. Of a group that several files name, the last word is taken.
 *
 * @throws ConfigurationError with every fault of every file: an unreadable file, invalid YAML, a cycle, an unknown group or key.
 */
export function composeFiles(source: string, overrides: readonly string[] = []): ComposedConfig {
  const reader = new FileReader(
    source,
    overrides.filter((override) => REFERENCE.test(override)),
  );
  const all = reader.collectLayers(source);
  if (reader.faults.length > 0) throw new ConfigurationError(source, reader.faults);
  const layers = all.filter(
    ({ group }, i) => group === null || !all.slice(i + 1).some((later) => later.group === group),
  );
  const composed = layers.map(({ content }) => content).reduce(layOver, {});
  const late = overrides.filter((override) => !REFERENCE.test(override));
  const content = applyOverrides(composed, late);
  const overridden = late.map((override) => parsePath(override.slice(0, override.indexOf('=')), content));
  const files: string[] = [];
  for (const { file, nearer = [] } of all) files.push(...nearer, file);
  return { source, isFile: true, content, layers, files, overridden };
}

/** A config that is no file. */
export function wrapContent(content: Plain, source: string): ComposedConfig {
  const layer = { file: source, content, group: null, findLine: () => undefined };
  return { source, isFile: false, content, layers: [layer], files: [], overridden: [] };
}

/** The path of a composed config's value in a file: an arm that is a list there may have been merged with a mapping. */
function locateInLayer(layer: Plain, keys: Path): Path {
  const [first, name = '', key, ...rest] = keys;
  const isList = first === 'arms' && key === 'steps' && Array.isArray(getValueAt(layer, [first, name]));
  return isList ? [first, name, ...rest] : keys;
}

/** The file that wrote a value, its path there, and the line if the file has one. */
interface Writer {
  readonly file: string;
  readonly path: Path;
  readonly line: number | undefined;
}

/**
 * Who wrote a value last, and at which path.
 *
 * @returns the source itself for a value that no file set, unless an arm lacks it: then the file of the arm.
 */
export function findWriter(keys: Path, { source, content, layers, overridden }: ComposedConfig): Writer {
  const isThere = getValueAt(content, keys) !== undefined;
  const isOverridden = overridden.some((path) => path.every((key, i) => key === keys[i]));
  if (isOverridden) return { file: OVERRIDE, path: keys, line: undefined };
  const sought = isThere || keys[0] !== 'arms' ? keys.length : 2;
  const holders = layers.flatMap(({ file, content: layer, findLine }) => {
    const path = locateInLayer(layer, keys);
    return getValueAt(layer, path.slice(0, sought)) === undefined ? [] : [{ file, path, findLine }];
  });
  const own = layers.findLast(({ file }) => file === source);
  const { file, path, findLine } = holders.at(-1) ?? { file: source, path: keys, findLine: own?.findLine };
  return { file, path, line: findLine?.(path) };
}

/** The folder of the file that set a value, searched first for a path in it; null if no file set the value. */
export function findWriterFolder(keys: Path, composed: ComposedConfig): string | null {
  const { file } = findWriter(keys, composed);
  return composed.isFile && file !== OVERRIDE ? dirname(file) : null;
}
