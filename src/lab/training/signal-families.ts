import { SPREAD } from '../../rank/signals/bank/spread.ts';

/** The base of a signal's name: without its spread over a session, and without the number that distinguishes it from similar ones. */
function findRootSignal(signal: string): string {
  const suffix = SPREAD.find((ending) => ending !== '' && signal.endsWith(ending)) ?? '';
  return signal.slice(0, signal.length - suffix.length).replace(/(?<=[-.])\d+(?=h?(?:@|$))/, 'N');
}

/**
 * Signals that are left out together, since they carry nearly the same information: a score with all its spread signals, signals that differ in a number
 * alone (half-lives, windows, dimensions), any other by itself. A product goes with both of its factors.
 */
export function groupSignalFamilies(signals: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>();
  const add = (family: string, signal: string) => {
    const members = families.get(family);
    if (members === undefined) families.set(family, [signal]);
    else if (!members.includes(signal)) members.push(signal);
  };
  for (const signal of signals) for (const factor of signal.split('*')) add(findRootSignal(factor), signal);
  return families;
}
