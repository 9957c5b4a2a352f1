import { z } from 'zod';
import { frozen } from '../../core/frozen.ts';
import { encoderOptions } from '../../embedding/registry.ts';
import { PAIR_SIGNALS, type PairGroup } from './pair-signals.ts';
import { PRODUCTS } from './products.ts';
import { RANK_SIGNALS } from './session-ranks.ts';
import { SPREAD } from './spread.ts';
import { STRUCTURE_NAMES } from './structure.ts';

/** What signals look at. `author` and `channel` are features that a task must allow. */
export const SIGNAL_GROUPS = frozen(['text', 'form', 'time', 'thread', 'channel', 'author', 'structure'] as const);
export type SignalGroup = (typeof SIGNAL_GROUPS)[number];

export const signalBankOptions = z.strictObject({
  groups: z
    .array(z.enum(SIGNAL_GROUPS))
    .min(1)
    .default([...SIGNAL_GROUPS]),
  /** Besides the experiment's own; each gives a cosine that is spread as the words' scores are. */
  encoders: z.array(encoderOptions).default([]),
});
export type SignalBankOptions = z.output<typeof signalBankOptions>;

/** The scores of turns that are spread over their sessions. */
const SPREAD_WORDS = ['bm25', 'characters', 'pairs', 'coverage', 'feedback'] as const;
/** The scores of the words of several turns together. */
export const SHARED_WORDS = [
  'bm25-window-1',
  'coverage-window-1',
  'bm25-window-2',
  'coverage-window-2',
  'bm25-session',
  'coverage-session',
] as const;

/** How the cosines are called: the experiment's encoder first. */
export function cosineNames({ encoders }: SignalBankOptions): string[] {
  const names = encoders.map(({ encoder }, i) => {
    const earlier = encoders.slice(0, i).filter((other) => other.encoder === encoder).length;
    return `cosine-${encoder}${earlier === 0 ? '' : `-${earlier + 1}`}`;
  });
  return ['cosine', ...names];
}

/** The names of the scores that are spread, in the order of their columns. */
export function spreadNames(options: SignalBankOptions): string[] {
  const { groups } = options;
  if (!groups.includes('text')) return [];
  const author = groups.includes('author') ? ['bm25-author'] : [];
  return [...SPREAD_WORDS, ...author, ...cosineNames(options)];
}

function pairNames(groups: readonly SignalGroup[]): string[] {
  return (Object.keys(PAIR_SIGNALS) as PairGroup[])
    .filter((group) => groups.includes(group))
    .flatMap((group) => Object.keys(PAIR_SIGNALS[group]));
}

function rankNames(ranks: readonly { readonly newest: string; readonly rank: string }[]): string[] {
  return ranks.flatMap(({ newest, rank }) => [newest, rank]);
}

/** The signals of a bank, in the order of their columns. */
export function signalNames(options: SignalBankOptions): string[] {
  const { groups } = options;
  const text = groups.includes('text') ? SHARED_WORDS : [];
  const names = [
    ...spreadNames(options).flatMap((name) => SPREAD.map((suffix) => `${name}${suffix}`)),
    ...text,
    ...pairNames(groups),
    ...(groups.includes('time') ? rankNames([RANK_SIGNALS.time]) : []),
    ...(groups.includes('channel') ? rankNames(Object.values(RANK_SIGNALS.channel)) : []),
    ...(groups.includes('structure') ? STRUCTURE_NAMES : []),
  ];
  return [...names, ...PRODUCTS.filter(({ of }) => of.every((name) => names.includes(name))).map(({ name }) => name)];
}
