import { describe, expect, test } from 'vitest';
import { check, parse } from '../../core/validation.ts';
import { cosineNames, SIGNAL_GROUPS, type SignalGroup, signalBankOptions, signalNames } from './options.ts';
import { PRODUCTS } from './products.ts';

const bank = (options: object) => parse(signalBankOptions, options, 'test');
const namesOf = (options: object) => signalNames(bank(options));

test('without options a bank has every group and the encoder of the experiment alone', () => {
  expect(bank({})).toEqual({ groups: [...SIGNAL_GROUPS], encoders: [] });
  expect(cosineNames(bank({}))).toEqual(['cosine']);
});

test('cosines are named after their encoders, in their order', () => {
  const encoders = [{ encoder: 'lsa' }, { encoder: 'use-lite' }, { encoder: 'lsa', dimension: 7 }, { encoder: 'lsa' }];
  const names = ['cosine', 'cosine-lsa', 'cosine-use-lite', 'cosine-lsa-2', 'cosine-lsa-3'];
  expect(cosineNames(bank({ encoders }))).toEqual(names);
  const shares = namesOf({ encoders }).filter((name) => /^cosine\S*:share$/.test(name));
  expect(shares).toEqual(names.map((name) => `${name}:share`));
});

describe('names', () => {
  test('stand once each', () => {
    const names = namesOf({ encoders: [{ encoder: 'lsa' }, { encoder: 'lsa' }] });
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(SIGNAL_GROUPS)(
    'of the whole bank are those of %s and those of the other groups, but for what needs both',
    (group) => {
      const others = SIGNAL_GROUPS.filter((other) => other !== group);
      const parts = [...namesOf({ groups: [group] }), ...namesOf({ groups: others })];
      const whole = namesOf({});
      expect(whole).toEqual(expect.arrayContaining(parts));
      const both = whole.filter((name) => !parts.includes(name) && !name.startsWith('bm25-author'));
      expect(PRODUCTS.map(({ name }) => name)).toEqual(expect.arrayContaining(both));
    },
  );

  test('are in the same order whatever that of the groups', () => {
    const groups: SignalGroup[] = ['structure', 'text', 'time'];
    expect(namesOf({ groups })).toEqual(namesOf({ groups: groups.toReversed() }));
  });
});

test('a bank of no group or an unknown one is refused', () => {
  expect(check(signalBankOptions, { groups: [] })).toHaveProperty('faults');
  const result = check(signalBankOptions, { groups: ['threads'] });
  expect('faults' in result && result.faults[0]?.nearest).toBe('thread');
});
