import { describe, expect, test } from 'vitest';
import { check, parse } from '../../../core/validation/validation.ts';
import {
  listCosineNames,
  listProducts,
  listSignalNames,
  SIGNAL_GROUPS,
  type SignalGroup,
  signalBankOptions,
} from './options.ts';

const parseBank = (options: object) => parse(signalBankOptions, options, 'test');
const listBankNames = (options: object) => listSignalNames(parseBank(options));

test('without options a bank has every group but attributes, graph, memory and late, and the encoder of the experiment alone', () => {
  const groups = SIGNAL_GROUPS.filter((group) => !['attributes', 'graph', 'memory', 'late'].includes(group));
  expect(parseBank({})).toEqual({ groups, encoders: [] });
  expect(listCosineNames(parseBank({}))).toEqual(['cosine']);
});

test('cosines are named after their encoders, in their order', () => {
  const encoders = [{ encoder: 'lsa' }, { encoder: 'use-lite' }, { encoder: 'lsa', dimension: 7 }, { encoder: 'lsa' }];
  const names = ['cosine', 'cosine.lsa', 'cosine.use-lite', 'cosine.lsa-2', 'cosine.lsa-3'];
  expect(listCosineNames(parseBank({ encoders }))).toEqual(names);
  const shares = listBankNames({ encoders }).filter((name) => /^cosine\S*@share$/.test(name));
  expect(shares).toEqual(names.map((name) => `${name}@share`));
});

describe('names', () => {
  test('stand once each', () => {
    const names = listBankNames({ encoders: [{ encoder: 'lsa' }, { encoder: 'lsa' }] });
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(SIGNAL_GROUPS)(
    'of the whole bank are those of %s and those of the other groups, but for what needs both',
    (group) => {
      const others = SIGNAL_GROUPS.filter((other) => other !== group);
      const parts = [...listBankNames({ groups: [group] }), ...listBankNames({ groups: others })];
      const whole = listBankNames({ groups: SIGNAL_GROUPS });
      expect(whole).toEqual(expect.arrayContaining(parts));
      const ofAuthors = /^bm25\.author|^late\.\w+\.(?:named|other)$/;
      const both = whole.filter((name) => !parts.includes(name) && !ofAuthors.test(name));
      expect(listProducts().map(({ name }) => name)).toEqual(expect.arrayContaining(both));
    },
  );

  test('are in the same order whatever that of the groups', () => {
    const groups: SignalGroup[] = ['structure', 'text', 'time'];
    expect(listBankNames({ groups })).toEqual(listBankNames({ groups: groups.toReversed() }));
  });
});

test('a bank of no group or an unknown one is refused', () => {
  expect(check(signalBankOptions, { groups: [] })).toHaveProperty('faults');
  const result = check(signalBankOptions, { groups: ['threads'] });
  expect('faults' in result && result.faults[0]?.nearest).toBe('thread');
});

test('every product is of two other signals of the whole bank, and named after them', () => {
  const names = listSignalNames(signalBankOptions.parse({ groups: SIGNAL_GROUPS }));
  for (const { name, of } of listProducts()) {
    expect(name).toBe(of.join('*'));
    for (const factor of of) {
      expect(names).toContain(factor);
      expect(factor).not.toContain('×');
    }
  }
  expect(new Set(listProducts().map(({ name }) => name)).size).toBe(listProducts().length);
});
