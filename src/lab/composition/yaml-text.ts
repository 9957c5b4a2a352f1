import type { Document, LineCounter, Node, Pair, YAMLError } from 'yaml';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { formatPath } from '../../core/validation/validation.ts';
import { yaml } from '../../core/values/yaml.ts';

/** The limits of a config. docs/config.md lists them, and every error of a limit states it. */
export const CONFIG_LIMITS = Object.freeze({
  /** Bytes of one file. */
  fileBytes: 64 * 2 ** 20,
  /** Syntax faults of one file that are listed. */
  syntaxFaults: 20,
  /** Aliases in one file: to resolve one costs time in proportion to all of them. */
  aliases: 5000,
  /** Values that aliases repeat, counted as often as they are repeated. */
  repeatedValues: 100_000,
  /** Levels of mappings and lists within each other. */
  depth: 100,
  /** Files that extend each other in a row. */
  chain: 100,
  /** Files laid over each other; one counts each time that it is extended. */
  layers: 1000,
  /** Parts of a path of `--set`. */
  pathParts: 100,
  /** Characters of the name of an experiment, from which the name of its folder is made. */
  nameCharacters: 100,
  /** Characters of the name of an arm. */
  armNameCharacters: 1000,
  /** Arms in all: those that are written, those of a sweep, null controls and repetitions. */
  arms: 10_000,
  /** Seeds that each arm is run with. */
  seeds: 100,
  /** Arms that extend each other in a row. */
  armChain: 100,
  /** Points of all tuning grids together. */
  tunePoints: 10_000,
});

type Keys = readonly PropertyKey[];

/** A mapping or list that was met, with the number of values in it, repeats included. */
interface Seen {
  readonly size: number;
}

const { depth: DEEPEST, repeatedValues: MOST_REPEATS } = CONFIG_LIMITS;

function buildFault(path: Keys, expected: string, got: string): ConfigurationFault {
  return { path: formatPath(path), expected, got };
}

function buildDepthFault(path: Keys): ConfigurationFault {
  return buildFault(path, `at most ${DEEPEST} levels of mappings and lists`, 'more; nest them less');
}

/**
 * Walks over values that aliases may share, each of them once, since what they stand for can be exponential in the
 * length of the text. Ends at the first fault that further steps could not be taken behind.
 */
class ValueCheck {
  readonly faults: ConfigurationFault[] = [];
  readonly #sizes = new Map<object, Seen | 'open'>();
  #repeated = 0;
  #isOver = false;

  #stopAtFault(fault: ConfigurationFault): 0 {
    this.faults.push(fault);
    this.#isOver = true;
    return 0;
  }

  /** @returns how many values there are from here on, repeats included. */
  count(value: unknown, path: Keys): number {
    if (this.#isOver) return 0;
    if (value === null || typeof value !== 'object') return 1;
    const known = this.#sizes.get(value);
    if (known === 'open')
      return this.#stopAtFault(buildFault(path, 'a value that does not contain itself', 'an alias of its own parent'));
    if (known !== undefined) {
      this.#repeated += known.size;
      if (this.#repeated <= MOST_REPEATS) return known.size;
      return this.#stopAtFault(
        buildFault(path, `at most ${MOST_REPEATS} values repeated by aliases`, 'more; write fewer aliases'),
      );
    }
    if (path.length >= DEEPEST) return this.#stopAtFault(buildDepthFault(path.slice(0, 3)));
    return this.#countWithin(value, path);
  }

  #countWithin(value: object, path: Keys): number {
    this.#sizes.set(value, 'open');
    let size = 1;
    for (const [key, child] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      const keyPath = [...path, key];
      if (key === '__proto__') this.faults.push(buildFault(keyPath, 'a key other than __proto__', '"__proto__"'));
      size += this.count(child, keyPath);
    }
    this.#sizes.set(value, { size });
    return size;
  }
}

/**
 * Values that a config may not contain: a value within itself, too deep, too often repeated, or with a key `__proto__`.
 */
export function findValueFaults(value: unknown, path: Keys = []): ConfigurationFault[] {
  const check = new ValueCheck();
  check.count(value, path);
  return check.faults;
}

/**
 * The line of the value at a path, or of the innermost part of the path that a text has: a missing key is reported at
 * its mapping.
 *
 * @returns undefined if the text has not even the first key.
 */
export type FindLine = (path: readonly string[]) => number | undefined;

/** A value, and where its key begins, or itself if it has no key. */
interface Found {
  readonly node: Node | null;
  readonly start: number | undefined;
}

function findChild(node: Node | null, key: string): Found | undefined {
  const { isMap, isSeq } = yaml();
  if (isSeq(node)) {
    const item = (node.items as Node[])[/^\d+$/.test(key) ? Number(key) : -1];
    return item === undefined ? undefined : { node: item, start: item?.range?.[0] };
  }
  if (!isMap(node)) return undefined;
  const pair = (node.items as Pair<Node, Node | null>[]).find((one) => String(one.key) === key);
  return pair === undefined ? undefined : { node: pair.value, start: pair.key.range?.[0] };
}

/** Finds lines in a text that was read. A value that an alias repeats is at its anchor. */
function createLineFinder(document: Document, lines: LineCounter): FindLine {
  const { isAlias } = yaml();
  const resolveAlias = (node: Node | null) => (isAlias(node) ? (node.resolve(document) ?? null) : node);
  return (path) => {
    let node = document.contents as Node | null;
    let start: number | undefined;
    for (const key of path) {
      const child = findChild(resolveAlias(node), key);
      if (child === undefined) break;
      node = child.node;
      start = child.start ?? start;
    }
    return start === undefined ? undefined : lines.linePos(start).line;
  };
}

/** A value with the lines of its parts, or the errors of its text. */
type YamlValue =
  | { readonly value: unknown; readonly findLine: FindLine }
  | { readonly faults: readonly ConfigurationFault[] };

/** The parser's stack was not deep enough. */
const isTooDeep = ({ code }: YAMLError) => code === 'RESOURCE_EXHAUSTION';

/** The reason of a syntax error, without the text: a file that is no config may hold secrets. */
function describeSyntaxError({ message }: YAMLError): string {
  return (message.split('\n')[0] as string)
    .replace(/ at line \d+, column \d+:?$/, '')
    .replace(/(: |(?<=Invalid escape sequence) ).*$/, '');
}

/** Keys of one mapping that are alike; the parser would compare each with each. */
function findRepeatedKeys(document: Document): number[] {
  const keyPaths: number[] = [];
  const { isScalar, visit } = yaml();
  visit(document, {
    Map(_, { items }) {
      const known = new Set<string>();
      for (const { key } of items as Pair[]) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (known.has(name)) keyPaths.push(key.range?.[0] ?? 0);
        known.add(name);
      }
    },
  });
  return keyPaths;
}

/** Aliases without an earlier anchor, or too many aliases. */
function findAliasFaults(document: Document): ConfigurationFault[] {
  const anchors = new Set<string>();
  const lost = new Set<string>();
  let count = 0;
  yaml().visit(document, {
    Node(_, node) {
      if ('anchor' in node && typeof node.anchor === 'string') anchors.add(node.anchor);
    },
    Alias(_, { source }) {
      count++;
      if (!anchors.has(source)) lost.add(source);
    },
  });
  const keyPath = { path: '(top level)' };
  if (count > CONFIG_LIMITS.aliases) {
    const expected = `at most ${CONFIG_LIMITS.aliases} aliases in a file`;
    return [{ ...keyPath, expected, got: `${count}; write some of the values out` }];
  }
  return [...lost].map((name) => ({ ...keyPath, expected: 'an anchor before each alias', got: `none for *${name}` }));
}

/** The type of a text that is not a mapping; never its content. */
function describeYamlKind(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

function listSyntaxFaults({ errors }: Document, repeated: readonly number[], lines: LineCounter): ConfigurationFault[] {
  const found = [
    ...errors.map((error) => ({ at: error.pos[0], got: describeSyntaxError(error) })),
    ...repeated.map((at) => ({ at, got: 'Map keys must be unique' })),
  ];
  const faults = found.slice(0, CONFIG_LIMITS.syntaxFaults).map(({ at, got }) => {
    const { line, col } = lines.linePos(at);
    return { path: `line ${line}, column ${col}`, expected: 'valid YAML', got };
  });
  const more = found.length - faults.length;
  if (more === 0) return faults;
  return [...faults, { path: '(file)', expected: 'valid YAML', got: `${more} further syntax faults` }];
}

/**
 * Reads YAML 1.2 in time linear in its length.
 *
 * @param isConfig whether it must be a mapping.
 * @returns the value, aliases sharing their targets; or every syntax error with its line, else every error of its
 *   values.
 */
export function readYamlText(text: string, isConfig: boolean): YamlValue {
  const { isMap, isScalar, LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  if (document.errors.some(isTooDeep)) return { faults: [buildDepthFault([])] };
  const syntax = listSyntaxFaults(document, findRepeatedKeys(document), lines);
  if (syntax.length > 0) return { faults: syntax };
  if (isConfig && !isMap(document.contents)) {
    const { contents } = document;
    const got = isScalar(contents) ? describeYamlKind(contents.value) : describeYamlKind(contents === null ? null : []);
    return { faults: [{ path: '(top level)', expected: 'a mapping', got }] };
  }
  const aliases = findAliasFaults(document);
  if (aliases.length > 0) return { faults: aliases };
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  const faults = findValueFaults(value);
  return faults.length > 0 ? { faults } : { value, findLine: createLineFinder(document, lines) };
}
