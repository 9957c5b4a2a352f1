import type { Document, LineCounter, Node, Pair, YAMLError } from 'yaml';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { yaml } from '../../core/values/yaml.ts';
import { CONFIG_LIMITS } from './config-limits.ts';
import { buildDepthFault, findValueFaults } from './config-values.ts';

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
