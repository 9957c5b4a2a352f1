import { getOrCompute } from '../../core/values/once.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes, rankIdsDescending } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { TurnLists } from './anchors.ts';

/** The ids that the attribute `references` of a turn lists. */
function listReferredIds({ attributes }: Turn): readonly string[] {
  return Array.isArray(attributes?.references) ? (attributes.references as string[]) : [];
}

/** Phases, replies and references of turns, by position. Lists of neighbours ascend, which is time order. */
class Joins {
  readonly phases: (string | null)[] = [];
  readonly children: number[][] = [];
  /** Both ends of every reference, once each. */
  readonly references: number[][] = [];
  /** The turns that refer to an id that no turn so far has. */
  readonly #awaiting = new Map<string, number[]>();
  /** Ranks of the ids of the first turns, half of all or more: most comparisons of ids read no text. */
  idRanks: Int32Array = new Int32Array();

  /** Takes in the turns that come after those so far. */
  takeIn(corpus: Corpus): void {
    const { size, turns, parent } = corpus;
    const first = this.children.length;
    // All of them at first: a parent may come after a child of the same moment.
    for (let position = first; position < size; position++) this.children.push([]);
    for (let position = first; position < size; position++) {
      const turn = turns[position] as Turn;
      const phase = turn.attributes?.phase;
      this.phases.push(typeof phase === 'string' ? phase : null);
      this.children[parent[position] as number]?.push(position);
      this.#joinReferences(corpus, turn, position);
    }
    if (size > 2 * this.idRanks.length) this.idRanks = rankIdsDescending(turns.map(({ id }) => id));
  }

  /** A reference joins nothing until there is a turn with its id. */
  #joinReferences(corpus: Corpus, turn: Turn, position: number): void {
    const joined = new Set(this.#awaiting.get(turn.id));
    this.#awaiting.delete(turn.id);
    for (const id of listReferredIds(turn)) {
      const other = corpus.findPosition(id);
      if (other >= 0 && other < position) joined.add(other);
      else if (other !== position) getOrCompute(this.#awaiting, id, () => [] as number[]).push(position);
    }
    for (const other of joined) this.references[other]?.push(position);
    this.references.push([...joined].sort((a, b) => a - b));
  }
}

/**
 * What joins the N turns of a corpus. The graphs of a corpus that grows share it: turns that came later have positions
 * from N, above every cutoff of an earlier moment.
 */
export class TurnGraph {
  readonly corpus: Corpus;
  readonly lists: TurnLists;
  readonly #joins: Joins;

  /** @param before of an earlier corpus; where this one has its turns and later ones, only these are read. */
  constructor(corpus: Corpus, before?: TurnGraph) {
    const start = before?.lists.canGrowTo(corpus) === true ? before : null;
    this.corpus = corpus;
    this.lists = new TurnLists(corpus, start?.lists);
    this.#joins = start === null ? new Joins() : start.#joins;
    this.#joins.takeIn(corpus);
  }

  /** Compares the ids of two turns by their bytes: of equal priority the one with the lower id is visited first. */
  createIdOrder(): (a: number, b: number) => number {
    const { idRanks } = this.#joins;
    const { turns } = this.corpus;
    return (a, b) =>
      a < idRanks.length && b < idRanks.length
        ? (idRanks[b] as number) - (idRanks[a] as number)
        : compareBytes((turns[a] as Turn).id, (turns[b] as Turn).id);
  }

  /** The attribute `phase`; null for none. */
  getPhase(position: number): string | null {
    return this.#joins.phases[position] as string | null;
  }

  /** -1 for a root. */
  getParent(position: number): number {
    return this.corpus.parent[position] as number;
  }

  listChildren(position: number): readonly number[] {
    return this.#joins.children[position] as number[];
  }

  listReferences(position: number): readonly number[] {
    return this.#joins.references[position] as number[];
  }
}
