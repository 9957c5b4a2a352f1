import { DirectedGraph } from 'graphology';
import { ValidationError } from '../core/errors.ts';
import { compareBytes } from './tie-rule.ts';
import type { Turn } from './turn.ts';

/** Time order, with ids by bytes where times are equal. */
export function compareTurns(a: Turn, b: Turn): number {
  return a.timestamp - b.timestamp || compareBytes(a.id, b.id);
}

/** A tree (or forest) of turns with edges from parent to child. Iterates in time order. */
export class Conversation {
  readonly id: string;
  /** In time order. */
  readonly turns: readonly Turn[];
  readonly graph: DirectedGraph<{ turn: Turn; depth: number }>;

  /** @throws ValidationError for a duplicate id, a missing parent, a cycle, or a turn of another conversation. */
  constructor(id: string, turns: readonly Turn[]) {
    this.id = id;
    this.turns = [...turns].sort(compareTurns);
    this.graph = new DirectedGraph();
    for (const turn of this.turns) {
      if (turn.conversationId !== id)
        throw new ValidationError(`turn ${turn.id} belongs to another conversation: ${turn.conversationId}`, {
          turnId: turn.id,
        });
      if (this.graph.hasNode(turn.id)) throw new ValidationError(`duplicate turn id: ${turn.id}`, { turnId: turn.id });
      this.graph.addNode(turn.id, { turn, depth: 0 });
    }
    for (const turn of this.turns) {
      if (turn.parentId === null) continue;
      if (!this.graph.hasNode(turn.parentId)) {
        throw new ValidationError(
          `turn ${turn.id} has a parent that conversation ${id} does not hold: ${turn.parentId}`,
          { turnId: turn.id, parentId: turn.parentId },
        );
      }
      this.graph.addDirectedEdge(turn.parentId, turn.id);
    }
    this.#setDepths();
  }

  #setDepths(): void {
    let level = this.roots();
    let reached = 0;
    for (let depth = 0; level.length > 0; depth++) {
      for (const turn of level) this.graph.setNodeAttribute(turn.id, 'depth', depth);
      reached += level.length;
      level = level.flatMap((turn) => this.children(turn.id));
    }
    if (reached < this.turns.length) {
      const cyclic = this.turns.find((turn) => this.#reachesItself(turn)) as Turn;
      throw new ValidationError(`turn is its own ancestor, a cycle in conversation ${this.id}: ${cyclic.id}`, {
        turnId: cyclic.id,
        conversationId: this.id,
      });
    }
  }

  #reachesItself(turn: Turn): boolean {
    const seen = new Set<string>();
    for (let at = turn.parentId; at !== null && !seen.has(at); at = this.turn(at).parentId) {
      if (at === turn.id) return true;
      seen.add(at);
    }
    return false;
  }

  turn(id: string): Turn {
    if (!this.graph.hasNode(id))
      throw new ValidationError(`conversation ${this.id} has no turn: ${id}`, { turnId: id });
    return this.graph.getNodeAttribute(id, 'turn');
  }

  roots(): Turn[] {
    return this.turns.filter((turn) => turn.parentId === null);
  }

  /** In time order. */
  children(id: string): Turn[] {
    return this.graph.mapOutNeighbors(this.turn(id).id, (_, { turn }) => turn).sort(compareTurns);
  }

  /** The whole sibling group including the turn itself, in time order; the roots of a conversation are each other's siblings. */
  siblingGroup(id: string): Turn[] {
    const { parentId } = this.turn(id);
    return parentId === null ? this.roots() : this.children(parentId);
  }

  /** Edges from the root. */
  depth(id: string): number {
    return this.graph.getNodeAttribute(this.turn(id).id, 'depth');
  }
}
