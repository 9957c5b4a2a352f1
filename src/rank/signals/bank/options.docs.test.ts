import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SIGNALS } from '../registry.cases.ts';
import { bankSignals, listSignalNames, SIGNAL_GROUPS, type SignalGroup, signalBankOptions } from './options.ts';

const page = readFileSync(new URL('../../../../docs/signals.md', import.meta.url), 'utf8');

/** The rows of the table whose first heading is this, without marks of code. */
function readDocsTable(heading: string): string[][] {
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

const splitCell = (cell = '') => cell.split(', ').filter((part) => part !== '');
const parseDocumented = ([name = '', groups, needs, meaning]: string[]): Documented => {
  return { name, groups: splitCell(groups), needs: splitCell(needs), meaning };
};
const suffixes = readDocsTable('spread').map(([suffix = '']) => (suffix === '(none)' ? '' : suffix));
const spread = readDocsTable('score').flatMap((row) =>
  suffixes.map((suffix) => {
    const { name, ...rest } = parseDocumented(row);
    return { ...rest, name: `${name.replace('<encoder>', 'lsa')}${suffix}` };
  }),
);
const others = readDocsTable('signal').map(parseDocumented);
const products = readDocsTable('product').map(parseDocumented);
const all = [...spread, ...others, ...products];
const listBankSignals = (groups: readonly SignalGroup[]) =>
  listSignalNames(signalBankOptions.parse({ groups, encoders: [{ encoder: 'lsa' }] }));

describe('the page of signals', () => {
  test('has a row for each signal of a chain', () => {
    const rows = SIGNALS.map(({ definition: { name, summary } }) => [name, summary.replaceAll('`', '')]);
    expect(readDocsTable('chain')).toEqual(rows);
  });

  test('names every signal in the order of its column', () => {
    expect(all.map(({ name }) => name)).toEqual(listBankSignals(SIGNAL_GROUPS));
    expect(all.length).toBeGreaterThan(140);
  });

  test('says of each what it is, and of each group what it looks at', () => {
    const defined = bankSignals(signalBankOptions.parse({ groups: SIGNAL_GROUPS, encoders: [{ encoder: 'lsa' }] }));
    const summaries = new Map(defined.map(({ name, summary }) => [name, summary.replaceAll('`', '')]));
    for (const { name, meaning } of [...spread, ...others]) expect(meaning, name).toBe(summaries.get(name));
    expect(readDocsTable('group').map(([group]) => group)).toEqual(SIGNAL_GROUPS);
  });

  test.each(SIGNAL_GROUPS)('knows which signals there are by the group %s alone', (group) => {
    const own = all.filter(({ groups, needs }) => [...groups, ...needs].every((needed) => needed === group));
    expect(own.map(({ name }) => name)).toEqual(listBankSignals([group]));
  });

  test.each(['author', 'channel'] as const)('knows which signals need %s', (feature) => {
    const without = listBankSignals(SIGNAL_GROUPS.filter((group) => group !== feature));
    const needing = all.filter(({ needs }) => needs.includes(feature)).map(({ name }) => name);
    expect(needing).toEqual(listBankSignals(SIGNAL_GROUPS).filter((name) => !without.includes(name)));
  });
});
