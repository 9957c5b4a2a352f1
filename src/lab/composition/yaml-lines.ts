import type { Document, LineCounter, Node, Pair } from 'yaml';
import { yaml } from '../../core/values/yaml.ts';

/**
 * The line of the value at a path, or of the innermost part of the path that a text has: a missing key is reported at its mapping.
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
export function createLineFinder(document: Document, lines: LineCounter): FindLine {
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
