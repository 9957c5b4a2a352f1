import { z } from 'zod';
import { check } from '../../../core/validation/validation.ts';
import { freezeDeeply, once } from '../../../core/values/once.ts';
import { encoderOptions } from '../../../index/encoders/registry.ts';
import { SESSION_KINDS } from '../../../index/late/late-options.ts';
import { importanceSignal, outcomeSignal } from '../boost.ts';
import { listLateSignals, listLateSpreads, listOwnLateSignals } from '../late.ts';
import {
  entityOverlapSignal,
  reinforcementSignal,
  temporalRelevanceSignal,
  typedImportanceSignal,
} from '../memory-signals.ts';
import { signalNumbers } from '../plan.ts';
import { ADDED_SIGNALS, type AddedSignal, type Signal, type SignalOf } from '../signal.ts';
import { weightsOrigin } from '../signal-options.ts';
import { listGraphRelations } from '../turn-concepts.ts';
import type { WorldPart } from '../worlds/world-parts.ts';
import { NORMALISATIONS } from './normalisation.ts';
import { listPairSignals, type PairGroup } from './pair-signals.ts';
import { describeStructure, RANK_SIGNALS, SPREAD } from './sessions.ts';

/** Name of a plugin's signal -> its options. */
type AddedSignalOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface BankedSignal {
  readonly definition: AddedSignal;
  readonly use: Signal;
}

/**
 * The signals of plugins that a bank holds, by name. Names that no plugin of this process has are faults of the bank's
 * schema.
 */
export function listAddedSignals(plugins: AddedSignalOptions = {}): ReadonlyMap<string, BankedSignal> {
  return new Map(
    Object.entries(plugins).flatMap(([name, options]) => {
      const definition = ADDED_SIGNALS.find(name);
      return definition === undefined ? [] : [[name, { definition, use: definition.create(options) }] as const];
    }),
  );
}

/** Describes what is wrong with the plugin signals of a bank. @param own names of the bank's own signals. */
function findAddedFaults(
  plugins: AddedSignalOptions,
  own: readonly string[],
): { readonly path: readonly string[]; readonly expected: string }[] {
  return Object.entries(plugins).flatMap(([name, options]) => {
    const definition = ADDED_SIGNALS.find(name);
    if (definition === undefined)
      return [{ path: [name], expected: `a signal that a plugin of the config defines, unlike ${name}` }];
    if (own.includes(name)) return [{ path: [name], expected: 'a name that no signal of the bank has; rename it' }];
    const result = check(definition.options, options);
    return ('faults' in result ? result.faults : []).map(({ path, expected }) => ({ path: [name, path], expected }));
  });
}

/** The product of two signals. */
export interface SignalProduct {
  readonly name: string;
  readonly of: readonly [string, string];
}

const FACTORS = [
  ['author.only-named', 'bm25@share'],
  ['author.only-named', 'cosine@share'],
  ['author.only-named', 'coverage'],
  ['form.answer', 'bm25@previous'],
  ['form.answer', 'cosine@previous'],
  ['channel', 'bm25@share'],
  ['channel', 'rank.newest@channel'],
  ['channel', 'decay.6h'],
  ['channel', 'decay.24h'],
  ['channel', 'rank.newest@session-channel'],
  ['thread.leaf', 'rank.newest@session-channel'],
  ['thread.last', 'rank.newest@session-channel'],
  ['thread.last', 'cosine@share'],
  ['thread.last', 'bm25@share'],
  ['thread.leaf', 'decay.24h'],
  ['author.asker@thread', 'thread.last'],
  ['author.asker@thread', 'thread.leaf'],
  ['author.asker@parent', 'thread.leaf'],
  ['author.asker', 'thread.last'],
  ['bm25@share', 'decay.24h'],
  ['cosine@share', 'decay.24h'],
] as const;

/** Signals that mean more together than apart, since a linear mix knows no "and". */
export const listProducts = once((): readonly SignalProduct[] => FACTORS.map((of) => ({ name: of.join('*'), of })));

const USUAL_GROUPS = ['text', 'form', 'time', 'thread', 'channel', 'author', 'structure'] as const;
/** The groups of signals that are columns of their own. Few datasets have attributes; names take long to find. */
export const COLUMN_GROUPS = ['attributes', 'graph', 'memory'] as const;
/** The groups that a bank has only where they are asked for; `late` needs an encoder with vectors of tokens. */
const ASKED_GROUPS = [...COLUMN_GROUPS, 'late'] as const;

/** The groups of signals, by what they look at. `author` and `channel` are features that a task must allow. */
export const SIGNAL_GROUPS = freezeDeeply([...USUAL_GROUPS, ...ASKED_GROUPS] as const);
/** The name of a group of signals, one of {@link SIGNAL_GROUPS}. */
export type SignalGroup = (typeof SIGNAL_GROUPS)[number];

/**
 * The schema of a bank of signals: the groups of signals (by default all but `attributes`, `graph`, `memory` and
 * `late`), encoders besides that of the experiment (by default none), and signals of plugins.
 */
export const signalBankOptions = z
  .strictObject({
    groups: z
      .array(z.enum(SIGNAL_GROUPS))
      .min(1)
      .default([...USUAL_GROUPS]),
    /** The turns around a turn for `late`, or none of them; absent in a resolved config that takes sessions. */
    around: z.enum([...SESSION_KINDS, 'none']).optional(),
    /** Besides the experiment's own; each gives a cosine that is spread as the words' scores are. */
    encoders: z.array(encoderOptions).default([]),
    /** Signal of a plugin -> its options. */
    plugins: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  })
  .superRefine(({ plugins, ...own }, context) => {
    // What looks at the bank later meets no signal that cannot be made.
    for (const { path, expected } of plugins === undefined ? [] : findAddedFaults(plugins, listSignalNames(own)))
      context.addIssue({ code: 'custom', path: ['plugins', ...path], message: expected, continue: false });
  });
/** The checked choice of the signals of a bank; {@link listSignalNames} gives the columns that it has. */
export type SignalBankOptions = z.output<typeof signalBankOptions>;

/** What every signal of a bank has, whichever way it is computed. */
export interface BankSignal {
  readonly name: string;
  /** The row of docs/signals.md. */
  readonly summary: string;
  readonly reads: readonly WorldPart[];
}

/** The scores of turns that are spread over their sessions: name -> summary. */
const SPREAD_WORDS = {
  bm25: "BM25 of the query's words (stems, no stop words, no names of authors if authors may be used)",
  characters: 'BM25 of runs of four characters within words, which are shared by `paint` and `painting`',
  pairs: 'BM25 of pairs of consecutive words',
  coverage: "share of the query's known words that the turn contains, weighted by rarity",
  feedback: 'BM25 of the twelve words that distinguish the best five turns by `bm25` from the others',
};
/** The same with the names of authors. */
const AUTHOR_WORDS = {
  'bm25.author': "BM25 with names of authors, over turns with their author's name prepended",
};

/** The scores of the words of several turns together: name -> summary. */
export const SHARED_WORDS = {
  'bm25.window-1': 'BM25 of the turn together with the ones before and after it in its session',
  'coverage.window-1': 'coverage of the same',
  'bm25.window-2': 'BM25 of the turn with the two before and the two after it',
  'coverage.window-2': 'coverage of the same',
  'bm25.session': 'BM25 of its session',
  'coverage.session': 'coverage of its session',
};

function describeWords(words: Readonly<Record<string, string>>): BankSignal[] {
  return Object.entries(words).map(([name, summary]) => ({ name, summary, reads: ['texts', 'times'] }));
}

/** The signals of a group that are columns of their own, in the order of their columns. */
function listColumnSignals(group: (typeof COLUMN_GROUPS)[number]): readonly SignalOf<null>[] {
  if (group === 'attributes') return [outcomeSignal, importanceSignal];
  if (group === 'graph') return Object.values(listGraphRelations());
  // The fifth of memories, the cosine, is in the group `text`.
  return [entityOverlapSignal, temporalRelevanceSignal, typedImportanceSignal, reinforcementSignal];
}

/** The signals of a group that are columns of their own, by name. */
export function createColumnSignals(group: (typeof COLUMN_GROUPS)[number]): Readonly<Record<string, Signal>> {
  return Object.fromEntries(listColumnSignals(group).map((signal) => [signal.definition.name, signal(null)]));
}

/** How the cosines are called: the experiment's encoder first. */
export function listCosineNames({ encoders }: SignalBankOptions): string[] {
  const names = encoders.map(({ encoder }, i) => {
    const earlier = encoders.slice(0, i).filter((other) => other.encoder === encoder).length;
    return `cosine.${encoder}${earlier === 0 ? '' : `-${earlier + 1}`}`;
  });
  return ['cosine', ...names];
}

function listCosineSignals(options: SignalBankOptions): BankSignal[] {
  return listCosineNames(options).map((name, i) => ({
    name,
    summary:
      i === 0 ? "cosine by the experiment's encoder" : 'cosine by a further encoder; the second of one name is `-2`',
    reads: ['vectors', 'times'],
  }));
}

/** The scores that are spread, in the order of their columns. */
function listSpreadSignals(options: SignalBankOptions): BankSignal[] {
  const { groups, around } = options;
  const words = { ...SPREAD_WORDS, ...(groups.includes('author') ? AUTHOR_WORDS : {}) };
  return [
    ...(groups.includes('text') ? [...describeWords(words), ...listCosineSignals(options)] : []),
    ...(groups.includes('late') && around !== 'none' ? listLateSpreads() : []),
  ];
}

function describePairs(groups: readonly SignalGroup[]): BankSignal[] {
  const signals = listPairSignals();
  return (Object.keys(signals) as PairGroup[])
    .filter((group) => groups.includes(group))
    .flatMap((group) => Object.entries(signals[group]).map(([name, { summary, reads }]) => ({ name, summary, reads })));
}

/** The signals of a bank, in the order of their columns. */
export function bankSignals(options: SignalBankOptions): BankSignal[] {
  const { groups, plugins, around } = options;
  const listLate = around === 'none' ? listOwnLateSignals : listLateSignals;
  const ranks = Object.values(RANK_SIGNALS).filter(({ group }) => groups.includes(group));
  const columns: BankSignal[] = [
    ...listSpreadSignals(options).flatMap((signal) =>
      SPREAD.map((suffix) => ({ ...signal, name: `${signal.name}${suffix}` })),
    ),
    ...(groups.includes('text') ? describeWords(SHARED_WORDS) : []),
    ...describePairs(groups),
    ...ranks.flatMap(({ newest, rank }) =>
      [newest, rank].map((signal) => ({ ...signal, reads: ['replies', 'times'] as const })),
    ),
    ...(groups.includes('structure') ? describeStructure() : []),
    ...(groups.includes('late') ? listLate(groups.includes('author')) : []),
    ...COLUMN_GROUPS.filter((group) => groups.includes(group))
      .flatMap(listColumnSignals)
      .map((signal) => ({ ...signal.definition, reads: signal(null).reads })),
  ];
  const byName = new Map(columns.map((signal) => [signal.name, signal]));
  const products = listProducts().flatMap(({ name, of }) => {
    const factors = of.map((factor) => byName.get(factor));
    if (factors.some((factor) => factor === undefined)) return [];
    const reads = factors.flatMap((factor) => (factor as BankSignal).reads);
    return [{ name, summary: 'the product of both', reads: [...new Set(reads)] }];
  });
  const added = Array.from(listAddedSignals(plugins), ([name, { definition, use }]) => {
    return { name, summary: definition.summary, reads: use.reads };
  });
  return [...columns, ...products, ...added];
}

/** The names of the signals of a bank, in the order of their columns. */
export function listSignalNames(options: SignalBankOptions): string[] {
  return bankSignals(options).map(({ name }) => name);
}

/** A linear mix of signals in the place of what an arm would put together by hand. */
export const scoringOptions = z.strictObject({
  /** The bank that the signals are of. */
  signals: signalBankOptions.prefault({}),
  /** Signal -> what one unit of it is worth, or with `normalise: question` one standard deviation. */
  weights: signalNumbers,
  /** Standardises each signal over the candidates of each question; absent in a resolved config that does not. */
  normalise: z.enum(NORMALISATIONS).optional(),
  origin: weightsOrigin.nullable().default(null),
});
/**
 * A checked linear mix of signals: the bank, the weight of each signal by name, and the origin of learned weights (null
 * for weights set by hand).
 */
export type ScoringOptions = z.output<typeof scoringOptions>;
