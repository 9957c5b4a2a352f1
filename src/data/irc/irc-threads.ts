import { ANCESTOR, PARENT, SAME_THREAD } from '../prepared/judgements.ts';
import type { Answers } from './irc-files.ts';

/** The parent and the links of a message; lines, ascending. */
interface IrcParents {
  /** The messages that it answers. */
  readonly direct: readonly number[];
  /** The lines answered by a linked line that is not a message. */
  readonly lifted: readonly number[];
}

const NONE: readonly number[] = [];

/** The links between the messages of a log: a message may answer several earlier ones, so they are no tree. */
export class IrcThreads {
  readonly #parents = new Map<number, IrcParents>();
  /** For each message another one of its thread; itself for the message that identifies the thread. */
  readonly #head = new Map<number, number>();
  readonly #roots = new Map<number, number>();

  /** @param messages lines of the messages, ascending. */
  constructor(messages: readonly number[], answers: Answers) {
    const known = new Set(messages);
    const lines = [...new Set([...messages, ...answers.keys()])].sort((a, b) => a - b);
    const lifted = new Map<number, readonly number[]>(); // of lines that are no messages, each looked at once
    for (const line of lines) {
      const parents = chooseIrcParents(answers.get(line) ?? NONE, known, lifted);
      if (!known.has(line)) {
        lifted.set(line, listLinkedLines(parents));
        continue;
      }
      this.#parents.set(line, parents);
      const nearest = this.findNearestParent(line);
      this.#roots.set(line, nearest === null ? line : this.findTreeRoot(nearest));
      this.#head.set(line, line);
      for (const parent of listLinkedLines(parents))
        this.#head.set(this.#findThreadHead(line), this.#findThreadHead(parent));
    }
  }

  getParents(line: number): IrcParents {
    return this.#parents.get(line) ?? { direct: NONE, lifted: NONE };
  }

  /** The parent in the tree: the nearest one that is answered, else the nearest that is lifted; null for a root. */
  findNearestParent(line: number): number | null {
    const { direct, lifted } = this.getParents(line);
    return direct.at(-1) ?? lifted.at(-1) ?? null;
  }

  /** The root of a message in the tree. */
  findTreeRoot(line: number): number {
    return this.#roots.get(line) ?? line;
  }

  /**
   * The judgements of a message: all messages that it answers 3, their ancestors 2, other earlier messages of its thread, the
   * connected component, 1. By line.
   */
  gradeCandidates(line: number): Map<number, number> {
    const grades = new Map<number, number>();
    const thread = this.#findThreadHead(line);
    for (const other of this.#parents.keys()) {
      if (other >= line) break;
      if (this.#findThreadHead(other) === thread) grades.set(other, SAME_THREAD);
    }
    for (const ancestor of this.#collectAncestors(line)) grades.set(ancestor, ANCESTOR);
    for (const parent of this.getParents(line).direct) grades.set(parent, PARENT);
    return grades;
  }

  #collectAncestors(line: number): Set<number> {
    const found = new Set<number>();
    const open = [...listLinkedLines(this.getParents(line))];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...listLinkedLines(this.getParents(at)));
    }
    return found;
  }

  #findThreadHead(line: number): number {
    let at = line;
    for (let above = this.#head.get(at) as number; above !== at; above = this.#head.get(at) as number) {
      this.#head.set(at, this.#head.get(above) as number); // halves the way (path halving)
      at = above;
    }
    return at;
  }
}

function listLinkedLines({ direct, lifted }: IrcParents): readonly number[] {
  return [...direct, ...lifted];
}

function chooseIrcParents(
  targets: readonly number[],
  known: ReadonlySet<number>,
  liftedOf: ReadonlyMap<number, readonly number[]>,
): IrcParents {
  const lifted = new Set(targets.flatMap((target) => liftedOf.get(target) ?? NONE));
  const direct = targets.filter((target) => known.has(target));
  for (const target of direct) lifted.delete(target);
  return { direct, lifted: [...lifted].sort((a, b) => a - b) };
}
