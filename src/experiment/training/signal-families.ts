import { SPREAD } from '../../retrieval/signal-bank/spread.ts';

/** The signal that another is made of: without what spreads it over a session. */
function root(signal: string): string {
  const suffix = SPREAD.find((ending) => ending !== '' && signal.endsWith(ending));
  return suffix === undefined ? signal : signal.slice(0, -suffix.length);
}

/**
 * Signals that are left out together, since each says nearly what the others do: a score with all that is spread of it, a signal by itself. A product goes with
 * both of its factors.
 */
export function signalFamilies(signals: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>();
  const add = (family: string, signal: string) => {
    const members = families.get(family);
    if (members === undefined) families.set(family, [signal]);
    else if (!members.includes(signal)) members.push(signal);
  };
  for (const signal of signals) for (const factor of signal.split(' × ')) add(root(factor), signal);
  return families;
}
