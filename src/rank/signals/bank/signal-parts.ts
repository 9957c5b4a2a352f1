import {
  listSignalNames,
  PRODUCTS,
  SHARED_WORDS,
  SIGNAL_GROUPS,
  type SignalBankOptions,
  type SignalGroup,
} from './options.ts';
import { SPREAD } from './spread.ts';

/** What is made of a score of the candidate alone. */
const OWN = ['', '@share'];
const AROUND = SPREAD.filter((suffix) => !OWN.includes(suffix));

function isAround(signal: string): boolean {
  const factors = PRODUCTS.find(({ name }) => name === signal)?.of ?? [signal];
  const words: readonly string[] = SHARED_WORDS;
  return factors.some((factor) => words.includes(factor) || AROUND.some((suffix) => factor.endsWith(suffix)));
}

/** What a bank can't say without a group. */
function listSignalsOnlyBy(options: SignalBankOptions, group: SignalGroup): string[] {
  const others = new Set(listSignalNames({ ...options, groups: options.groups.filter((one) => one !== group) }));
  return listSignalNames(options).filter((name) => !others.has(name));
}

/**
 * The signals of a bank that look at more than a candidate's own words, by what they look at: `neighbours`, the words of the turns beside it and of its session,
 * one of the groups but `text`, or `plugins`, whose signals may look at anything. A product looks at what both of its factors do. A part without signals is left out.
 */
export function groupSignalParts(options: SignalBankOptions): ReadonlyMap<string, readonly string[]> {
  const groups = SIGNAL_GROUPS.filter((group) => group !== 'text');
  const parts: [string, string[]][] = [
    ['neighbours', listSignalNames(options).filter(isAround)],
    ...groups.map((group): [string, string[]] => [group, listSignalsOnlyBy(options, group)]),
    ['plugins', Object.keys(options.plugins ?? {})],
  ];
  return new Map(parts.filter(([, signals]) => signals.length > 0));
}
