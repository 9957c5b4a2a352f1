import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SIGNALS } from '../registry.ts';
import { bankSignals, SIGNAL_GROUPS, type SignalGroup, signalBankOptions, signalNames } from './options.ts';

const page = readFileSync(new URL('../../../docs/signals.md', import.meta.url), 'utf8');

/** The rows of the table whose first heading is this, without marks of code. */
function rowsOf(heading: string): string[][] {
  const [, table = ''] = new RegExp(`^\\| ${heading} +\\|.*\\n\\|[-| ]+\\n((?:\\|.*\\|\\n)+)`, 'm').exec(page) ?? [];
  const lines = table.trim().split('\n');
  return lines
    .map((line) => line.slice(1, -1).split('|'))
    .map((row) => row.map((cell) => cell.trim().replaceAll('`', '')));
}

interface Documented {
  readonly name: string;
  readonly groups: readonly string[];
  readonly needs: readonly string[];
  readonly meaning: string | undefined;
}

const listed = (cell = '') => cell.split(', ').filter((part) => part !== '');
const documented = ([name = '', groups, needs, meaning]: string[]): Documented => {
  return { name, groups: listed(groups), needs: listed(needs), meaning };
};
const suffixes = rowsOf('spread').map(([suffix = '']) => (suffix === '(none)' ? '' : suffix));
const spread = rowsOf('score').flatMap((row) =>
  suffixes.map((suffix) => {
    const { name, ...rest } = documented(row);
    return { ...rest, name: `${name.replace('<encoder>', 'lsa')}${suffix}` };
  }),
);
const others = rowsOf('signal').map(documented);
const products = rowsOf('product').map(documented);
const all = [...spread, ...others, ...products];
const bank = (groups: readonly SignalGroup[]) =>
  signalNames(signalBankOptions.parse({ groups, encoders: [{ encoder: 'lsa' }] }));

describe('the page of signals', () => {
  test('has a row for each signal of a chain', () => {
    const rows = SIGNALS.map(({ definition: { name, summary } }) => [name, summary.replaceAll('`', '')]);
    expect(rowsOf('chain')).toEqual(rows);
  });

  test('names every signal in the order of its column', () => {
    expect(all.map(({ name }) => name)).toEqual(bank(SIGNAL_GROUPS));
    expect(all.length).toBeGreaterThan(140);
  });

  test('says of each what it is, and of each group what it looks at', () => {
    const defined = bankSignals(signalBankOptions.parse({ encoders: [{ encoder: 'lsa' }] }));
    const summaries = new Map(defined.map(({ name, summary }) => [name, summary.replaceAll('`', '')]));
    for (const { name, meaning } of [...spread, ...others]) expect(meaning, name).toBe(summaries.get(name));
    expect(rowsOf('group').map(([group]) => group)).toEqual(SIGNAL_GROUPS);
  });

  test.each(SIGNAL_GROUPS)('knows which signals there are by the group %s alone', (group) => {
    const own = all.filter(({ groups, needs }) => [...groups, ...needs].every((needed) => needed === group));
    expect(own.map(({ name }) => name)).toEqual(bank([group]));
  });

  test.each(['author', 'channel'] as const)('knows which signals need %s', (feature) => {
    const without = bank(SIGNAL_GROUPS.filter((group) => group !== feature));
    const needing = all.filter(({ needs }) => needs.includes(feature)).map(({ name }) => name);
    expect(needing).toEqual(bank(SIGNAL_GROUPS).filter((name) => !without.includes(name)));
  });
});
