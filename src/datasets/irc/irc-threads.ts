import { ANCESTOR, PARENT, SAME_THREAD } from '../judgements.ts';
import type { Answers } from './irc-links.ts';

/** What a message hangs from; lines, ascending. */
export interface IrcParents {
  /** The messages that it answers. */
  readonly direct: readonly number[];
  /** Those that are answered by what it answers, where that is no message. */
  readonly lifted: readonly number[];
}

const NONE: readonly number[] = [];

/** How the messages of a log hang together: every message may answer several earlier ones, so that this is no tree. */
export class IrcThreads {
  readonly #parents = new Map<number, IrcParents>();
  /** For each message another one of its thread, itself for the one by which threads are told apart. */
  readonly #head = new Map<number, number>();

  /** @param messages lines of the messages, ascending. */
  constructor(messages: readonly number[], answers: Answers) {
    const known = new Set(messages);
    for (const line of messages) {
      const parents = parentsOf(line, known, answers);
      this.#parents.set(line, parents);
      this.#head.set(line, line);
      for (const parent of linked(parents)) this.#head.set(this.#thread(line), this.#thread(parent));
    }
  }

  parents(line: number): IrcParents {
    return this.#parents.get(line) ?? { direct: NONE, lifted: NONE };
  }

  /** The parent in the tree: the nearest one that is answered, else the nearest that is lifted; null for a root. */
  nearestParent(line: number): number | null {
    const { direct, lifted } = this.parents(line);
    return direct.at(-1) ?? lifted.at(-1) ?? null;
  }

  /** The root of a message in the tree. */
  root(line: number): number {
    let root = line;
    for (let at = this.nearestParent(line); at !== null; at = this.nearestParent(root)) root = at;
    return root;
  }

  /**
   * What is relevant to a message that looks for what it answers: all that it answers 3, what they answer and so on 2, other earlier messages of its thread, the
   * connected component, 1. By line.
   */
  grades(line: number): Map<number, number> {
    const grades = new Map<number, number>();
    const thread = this.#thread(line);
    for (const other of this.#parents.keys()) {
      if (other >= line) break;
      if (this.#thread(other) === thread) grades.set(other, SAME_THREAD);
    }
    for (const ancestor of this.#ancestors(line)) grades.set(ancestor, ANCESTOR);
    for (const parent of this.parents(line).direct) grades.set(parent, PARENT);
    return grades;
  }

  #ancestors(line: number): Set<number> {
    const found = new Set<number>();
    const open = [...linked(this.parents(line))];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...linked(this.parents(at)));
    }
    return found;
  }

  #thread(line: number): number {
    let head = line;
    while (this.#head.get(head) !== head) head = this.#head.get(head) as number;
    return head;
  }
}

function linked({ direct, lifted }: IrcParents): readonly number[] {
  return [...direct, ...lifted];
}

function parentsOf(line: number, known: ReadonlySet<number>, answers: Answers): IrcParents {
  const targets = answers.get(line) ?? NONE;
  const gaps = targets.filter((target) => !known.has(target));
  const lifted = new Set(gaps.flatMap((gap) => linked(parentsOf(gap, known, answers))));
  const direct = targets.filter((target) => known.has(target));
  for (const target of direct) lifted.delete(target);
  return { direct, lifted: [...lifted].sort((a, b) => a - b) };
}
