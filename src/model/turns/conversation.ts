import { createRequire } from 'node:module';
import type { DirectedGraph } from 'graphology';
import {
  DISPLAY,
  type MimeBundle,
  phrase,
  type ShowableText,
  shortenShown,
  showText,
  stateShown,
} from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { escapeHtml, formatMinute } from '../../core/text/format.ts';
import { once } from '../../core/values/once.ts';
import { type Attributes, isSensitive } from './memory-fields.ts';
import { compareBytes } from './tie-rule.ts';
import type { MemoryRecord, Turn } from './turn.ts';

/** The text of a turn for displays, reports and messages. */
export function showTurn(turn: Turn): ShowableText {
  return showText(turn.text, isSensitive(turn));
}

/** The text of a record of a memory for displays and messages. */
export function showContext({ context, metadata }: Pick<MemoryRecord, 'context' | 'metadata'>): ShowableText {
  return showText(context, isSensitive({ attributes: metadata }));
}

/** A record of a memory for displays: of a sensitive one neither the text nor what else was said about it. */
export function showRecord<T extends Pick<MemoryRecord, 'context' | 'metadata'>>(record: T) {
  const metadata = isSensitive({ attributes: record.metadata }) ? { sensitive: true } : record.metadata;
  return { ...record, context: showContext(record), metadata };
}

/** The text of a query for reports. It is sensitive by its attribute, or by that of the turn that it is. */
export function showQuery(
  query: { readonly text: string; readonly turnId?: string; readonly attributes?: Attributes },
  corpus: { getTurn(id: string): Turn },
): ShowableText {
  const isTurn = query.turnId !== undefined && isSensitive(corpus.getTurn(query.turnId));
  return showText(query.text, isSensitive(query) || isTurn);
}

/**
 * The end of each chain of parents, walked once: O(ids).
 *
 * @param parentOf the parent of an id, null if the chain ends with the id.
 * @returns for each id the last id of its chain. A chain that runs into a cycle ends with the first id of the cycle
 *   that it meets, so an id on a cycle ends with itself though it has a parent.
 */
export function findChainEnds(ids: Iterable<string>, parentOf: (id: string) => string | null): Map<string, string> {
  const ends = new Map<string, string>();
  for (const start of ids) {
    const path = new Map<string, number>();
    let at = start;
    let parent = parentOf(at);
    while (!ends.has(at) && !path.has(at)) {
      path.set(at, path.size);
      if (parent === null) break;
      at = parent;
      parent = parentOf(at);
    }
    const met = path.get(at);
    const onCycle = met !== undefined && parent !== null;
    const end = ends.get(at) ?? at;
    for (const [id, step] of path) ends.set(id, onCycle && step >= met ? id : end);
  }
  return ends;
}

/** The parts of a conversation that a tree of turns needs. */
export interface ThreadSource {
  readonly id: string;
  readonly turns: readonly Turn[];
  listRoots(): Turn[];
  listChildren(id: string): Turn[];
}

/** A turn in depth-first order with the branches that lead to it. */
interface TreeLine {
  readonly turn: Turn;
  readonly depth: number;
  /** `├─ `, `└─ ` and what continues above. */
  readonly branches: string;
}

const SHOWN_TURNS = 60;
/** The characters shown of a root; deeper turns have less room. */
const SHOWN_CHARACTERS = 74;
const LEAST_CHARACTERS = 40;

function layOutLines(source: ThreadSource): TreeLine[] {
  const lines: TreeLine[] = [];
  const place = (turns: readonly Turn[], depth: number, before: string) =>
    turns.map((turn, at) => ({ turn, depth, before, isLast: at === turns.length - 1 })).reverse();
  const stack = place(source.listRoots(), 0, '');
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { turn, depth, before, isLast } = next;
    lines.push({ turn, depth, branches: depth === 0 ? '' : before + (isLast ? '└─ ' : '├─ ') });
    const below = depth === 0 ? '' : before + (isLast ? '   ' : '│  ');
    stack.push(...place(source.listChildren(turn.id), depth + 1, below));
  }
  return lines;
}

function describe({ turn, depth }: TreeLine): { readonly by: ShowableText; readonly text: ShowableText } {
  const room = Math.max(SHOWN_CHARACTERS - 4 * depth, LEAST_CHARACTERS);
  return {
    by: phrase`${stateShown(turn.author ?? 'unknown')}, ${stateShown(formatMinute(turn.timestamp))}`,
    text: shortenShown(showTurn(turn), room),
  };
}

/**
 * A conversation as a tree of replies, in text and in HTML.
 *
 * @param marks a short note for some turns, by id: a score, a rank.
 */
export function buildThreadBundle(
  source: ThreadSource,
  marks: ReadonlyMap<string, ShowableText> = new Map(),
): MimeBundle {
  const all = layOutLines(source);
  const shown = all.slice(0, SHOWN_TURNS);
  const hidden = all.length - shown.length;
  const title = `conversation ${source.id}: ${all.length} ${all.length === 1 ? 'turn' : 'turns'}`;
  const more = hidden === 0 ? [] : [`and ${hidden} more`];
  const mark = ({ turn }: TreeLine) => marks.get(turn.id) ?? '';
  const texts = shown.map((line) => {
    const note = mark(line) === '' ? '' : `[${mark(line)}] `;
    const { by, text } = describe(line);
    return `${line.branches}${note}${by}: ${text}`;
  });
  const items = shown.map((line) => {
    const note = mark(line) === '' ? '' : `<b>${escapeHtml(mark(line))}</b> `;
    const { by, text } = describe(line);
    const author = `<span style="opacity: 0.7">${escapeHtml(by)}</span>`;
    return `<div style="padding-left: ${1.6 * line.depth}em">${line.depth === 0 ? '' : '↳ '}${note}${author} ${escapeHtml(text)}</div>`;
  });
  return {
    'text/plain': [title, ...texts, ...more].join('\n'),
    'text/html': [`<p>${escapeHtml(title)}</p>`, ...items, ...more.map((line) => `<p>${line}</p>`)].join('\n'),
  };
}

const require = createRequire(import.meta.url);

/** Loaded with the first graph: most conversations are never asked for theirs. */
const graphology = once(() => require('graphology') as typeof import('graphology'));

/** Time order, with ids by bytes where times are equal. */
export function compareTurns(a: Turn, b: Turn): number {
  return a.timestamp - b.timestamp || compareBytes(a.id, b.id);
}

/** A tree (or forest) of turns with edges from parent to child. Iterates in time order. */
export class Conversation {
  readonly id: string;
  /** In time order. */
  readonly turns: readonly Turn[];
  readonly #nodes = new Map<string, Node>();
  #graph: DirectedGraph<{ turn: Turn; depth: number }> | null = null;

  /** @throws ValidationError for a duplicate id, a missing parent, a cycle, or a turn of another conversation. */
  constructor(id: string, turns: readonly Turn[]) {
    this.id = id;
    this.turns = [...turns].sort(compareTurns);
    for (const turn of this.turns) {
      if (turn.conversationId !== id)
        throw new ValidationError(
          `turn ${turn.id} belongs to another conversation: ${turn.conversationId}; change its conversationId`,
          {
            turnId: turn.id,
          },
        );
      if (this.#nodes.has(turn.id))
        throw new ValidationError(`duplicate turn id: ${turn.id}; rename one turn`, { turnId: turn.id });
      this.#nodes.set(turn.id, { turn, depth: 0, children: [] });
    }
    for (const turn of this.turns) {
      if (turn.parentId === null) continue;
      const parent = this.#nodes.get(turn.parentId);
      if (parent === undefined) {
        throw new ValidationError(
          `parent of turn ${turn.id} is missing in conversation ${id}: ${turn.parentId}; add it or set parentId to null`,
          { turnId: turn.id, parentId: turn.parentId },
        );
      }
      parent.children.push(turn);
    }
    this.#setDepths();
  }

  #setDepths(): void {
    let level = this.listRoots();
    let reached = 0;
    for (let depth = 0; level.length > 0; depth++) {
      for (const turn of level) this.#getNode(turn.id).depth = depth;
      reached += level.length;
      level = level.flatMap((turn) => this.#getNode(turn.id).children);
    }
    if (reached === this.turns.length) return;
    const ends = findChainEnds(this.#nodes.keys(), (id) => this.#getNode(id).turn.parentId);
    const cyclic = this.turns.find((turn) => turn.parentId !== null && ends.get(turn.id) === turn.id) as Turn;
    throw new ValidationError(
      `turn is its own ancestor, a cycle in conversation ${this.id}: ${cyclic.id}; correct its parentId`,
      {
        turnId: cyclic.id,
        conversationId: this.id,
      },
    );
  }

  /**
   * The tree as a graph of graphology, by turn id.
   *
   * @throws ValidationError for an id such as `constructor`, which a graph of graphology can't hold.
   */
  get graph(): DirectedGraph<{ turn: Turn; depth: number }> {
    this.#graph ??= this.#buildGraph();
    return this.#graph;
  }

  #buildGraph(): DirectedGraph<{ turn: Turn; depth: number }> {
    const { DirectedGraph } = graphology();
    const graph = new DirectedGraph<{ turn: Turn; depth: number }>();
    for (const { turn, depth } of this.#nodes.values()) {
      if (turn.id in Object.prototype)
        throw new ValidationError(`graphology does not allow the turn id: ${turn.id}; rename the turn`, {
          turnId: turn.id,
        });
      graph.addNode(turn.id, { turn, depth });
    }
    for (const { id, parentId } of this.turns) if (parentId !== null) graph.addDirectedEdge(parentId, id);
    return graph;
  }

  #getNode(id: string): Node {
    const node = this.#nodes.get(id);
    if (node === undefined)
      throw new ValidationError(`conversation ${this.id} has no turn: ${id}; use the id of one of its turns`, {
        turnId: id,
      });
    return node;
  }

  getTurn(id: string): Turn {
    return this.#getNode(id).turn;
  }

  listRoots(): Turn[] {
    return this.turns.filter((turn) => turn.parentId === null);
  }

  /** In time order. */
  listChildren(id: string): Turn[] {
    return [...this.#getNode(id).children];
  }

  /** The whole sibling group including the turn itself, in time order; the roots of a conversation are each other's siblings. */
  listSiblingGroup(id: string): Turn[] {
    const { parentId } = this.getTurn(id);
    return parentId === null ? this.listRoots() : this.listChildren(parentId);
  }

  /** Edges from the root. */
  getDepth(id: string): number {
    return this.#getNode(id).depth;
  }

  /** The tree of replies, for a notebook. */
  [DISPLAY](): MimeBundle {
    return buildThreadBundle(this);
  }
}

/** A turn in its place. */
interface Node {
  readonly turn: Turn;
  depth: number;
  /** In time order. */
  readonly children: Turn[];
}
