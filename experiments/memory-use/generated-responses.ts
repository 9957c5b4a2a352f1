import { createRandom, type Random } from '../../src/core/numbers/random.ts';
import type { AnsweredQuestion } from '../../src/memory/context/feedback/detect-use.ts';
import { EMPTY_REPLIES, FACT_KINDS, type FactKind, FILLERS, NAMES } from './facts.ts';

/** How a response uses a memory: its own words, other words around its value, its value alone, or no word of it. */
export const STYLES = ['quoted', 'reworded', 'value alone', 'in other words'] as const;
export type Style = (typeof STYLES)[number];

/** A response with the truth about it. */
export interface JudgedResponse extends AnsweredQuestion {
  readonly id: string;
  /** By the id of each memory that was used. */
  readonly used: ReadonlyMap<string, Style>;
}

interface Fact {
  readonly id: string;
  readonly name: string;
  readonly kind: FactKind;
  readonly value: readonly [value: string, inOtherWords: string];
}

const choose = <T>(random: Random, list: readonly T[]) => list[random.integer(list.length)] as T;

function drawWithout<T>(random: Random, list: readonly T[], count: number): T[] {
  const left = [...list];
  return Array.from({ length: count }, () => left.splice(random.integer(left.length), 1)[0] as T);
}

/** Five facts about the person who is asked about, and three of the same kinds about others. */
function drawFacts(random: Random): Fact[] {
  const [own, ...others] = drawWithout(random, NAMES, 4) as [string, ...string[]];
  const kinds = drawWithout(random, FACT_KINDS, 5);
  const owners = [...kinds.map((kind) => [own, kind] as const), ...others.map((name, i) => [name, kinds[i]!] as const)];
  const taken = new Set<string>();
  return owners.map(([name, kind], i) => {
    const value = choose(
      random,
      kind.values.filter(([words]) => !taken.has(words)),
    );
    taken.add(value[0]);
    return { id: `m${i}`, name, kind, value };
  });
}

function say({ kind, name, value: [value, inOtherWords] }: Fact, style: Style): string {
  if (style === 'quoted') return `${kind.memory(name, value)}.`;
  if (style === 'reworded') return `${kind.reply(name, value)}.`;
  const words = style === 'value alone' ? value : inOtherWords;
  return `${(words[0] as string).toUpperCase()}${words.slice(1)}.`;
}

/** Response `i`, of a stream of its own: it is about none to three of the facts, with none to two sentences that have nothing to do with them. */
function drawResponse(seed: number, i: number): JudgedResponse {
  const random = createRandom(seed, `memory-use ${i}`);
  const facts = drawFacts(random);
  const own = facts.slice(0, 5);
  const chosen = drawWithout(random, own, random.integer(4));
  const asked = chosen.length === 0 ? [choose(random, own)] : chosen;
  const used = new Map(chosen.map(({ id }) => [id, choose(random, STYLES)]));
  const said = chosen.map((fact) => say(fact, used.get(fact.id) as Style));
  const sentences = chosen.length === 0 ? [choose(random, EMPTY_REPLIES)] : said;
  const fillers = drawWithout(random, FILLERS, random.integer(3));
  return {
    id: `r${i}`,
    question: asked.map(({ kind, name }) => kind.question(name)).join(' '),
    response: [...sentences, ...fillers].join(' '),
    memories: facts.map(({ id, kind, name, value }) => ({ id, text: kind.memory(name, value[0]) })),
    used,
  };
}

/** Invented responses whose use of each memory is known. */
export function drawResponses(count: number, seed: number): JudgedResponse[] {
  return Array.from({ length: count }, (_, i) => drawResponse(seed, i));
}
