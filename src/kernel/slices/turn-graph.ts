import { getOrCompute } from '../../core/values/once.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { rankIdsDescending } from '../../model/turns/tie-rule.ts';

/** The turns of each value, in time order. Turns without a value are in no group. */
class Groups {
  readonly #group: readonly (number[] | null)[];
  readonly #orderInGroup: Int32Array;

  constructor(values: readonly (string | null)[]) {
    const groups = new Map<string, number[]>();
    this.#orderInGroup = new Int32Array(values.length);
    this.#group = values.map((value, position) => {
      if (value === null) return null;
      const group = getOrCompute(groups, value, () => [] as number[]);
      this.#orderInGroup[position] = group.push(position) - 1;
      return group;
    });
  }

  /** The turns before and after one in its group. */
  listBeside(position: number): number[] {
    const group = this.#group[position];
    if (group === null || group === undefined) return [];
    const order = this.#orderInGroup[position] as number;
    return [group[order - 1], group[order + 1]].filter((beside) => beside !== undefined);
  }
}

/** The ids that the attribute `references` of a turn lists. */
function listReferences(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

/** What joins the N turns of a corpus, by position. Lists of neighbours ascend, which is time order. */
export class TurnGraph {
  readonly corpus: Corpus;
  /** [N] of two turns with equal priority the one with the higher rank is visited first: that is id order by bytes. */
  readonly idRanks: Int32Array;
  /** [N] the attribute `phase`; null for none. */
  readonly phases: readonly (string | null)[];
  readonly #children: readonly number[][];
  readonly #references: readonly number[][];
  readonly #channels: Groups;
  readonly #authors: Groups;

  constructor(corpus: Corpus) {
    this.corpus = corpus;
    const { turns, parent } = corpus;
    this.idRanks = rankIdsDescending(turns.map(({ id }) => id));
    this.phases = turns.map(({ attributes }) => (typeof attributes?.phase === 'string' ? attributes.phase : null));
    this.#children = turns.map(() => []);
    for (const [position, above] of parent.entries()) if (above >= 0) this.#children[above]?.push(position);
    this.#references = this.#joinReferences();
    this.#channels = new Groups(turns.map(({ channel }) => channel));
    this.#authors = new Groups(turns.map(({ author }) => author));
  }

  /** Both ends of every reference, once each. A reference to a turn that is not in the corpus joins nothing. */
  #joinReferences(): number[][] {
    const joined = this.corpus.turns.map(() => new Set<number>());
    for (const [position, { attributes }] of this.corpus.turns.entries())
      for (const id of listReferences(attributes?.references)) {
        if (!this.corpus.has(id)) continue;
        const other = this.corpus.getPosition(id);
        if (other === position) continue;
        joined[position]?.add(other);
        joined[other]?.add(position);
      }
    return joined.map((others) => [...others].sort((a, b) => a - b));
  }

  /** -1 for a root. */
  getParent(position: number): number {
    return this.corpus.parent[position] as number;
  }

  listChildren(position: number): readonly number[] {
    return this.#children[position] as number[];
  }

  /** The turns before and after it in its channel. */
  listChannelNeighbours(position: number): readonly number[] {
    return this.#channels.listBeside(position);
  }

  /** The turns before and after it of its author. */
  listAuthorNeighbours(position: number): readonly number[] {
    return this.#authors.listBeside(position);
  }

  listReferences(position: number): readonly number[] {
    return this.#references[position] as number[];
  }
}
