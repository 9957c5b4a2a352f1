import { expect, test } from 'vitest';
import { listSignalNames, SIGNAL_GROUPS, signalBankOptions } from './options.ts';
import { PRODUCTS } from './products.ts';

test('every product is of two other signals of the whole bank, and named after them', () => {
  const names = listSignalNames(signalBankOptions.parse({ groups: SIGNAL_GROUPS }));
  for (const { name, of } of PRODUCTS) {
    expect(name).toBe(of.join('*'));
    for (const factor of of) {
      expect(names).toContain(factor);
      expect(factor).not.toContain('×');
    }
  }
  expect(new Set(PRODUCTS.map(({ name }) => name)).size).toBe(PRODUCTS.length);
});
