import { createRequire } from 'node:module';
import type { DirectedGraph } from 'graphology';
import { DISPLAY, type MimeBundle } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { once } from '../../core/values/once.ts';
import type { Turn } from './memory-record.ts';
import { buildThreadBundle, findChainEnds } from './thread-tree.ts';
import { compareBytes } from './tie-rule.ts';

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
