import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  readonly engines?: { readonly node?: string };
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const readJson = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as unknown;

/** True if a range such as `^18.17.0 || >=20.5` admits a release of Node 20. */
const admitsNode20 = (range: string) =>
  range.split('||').some((part) => {
    const [, operator = '', major = '0'] = /^\s*(>=|>|\^|~|)\s*v?(\d+)/.exec(part) ?? ['', '>=', '0'];
    return operator.startsWith('>') ? Number(major) <= 20 : Number(major) === 20;
  });

test('every package that an installation has runs on Node 20, as ours does', () => {
  expect(admitsNode20('>=22')).toBe(false);
  expect(admitsNode20('18 || >=20')).toBe(true);
  const { engines } = readJson('package.json') as Package;
  expect(engines?.node).toBe('>=20');
  const { packages } = readJson('package-lock.json') as { packages: Readonly<Record<string, Package>> };
  const others = Object.entries(packages).filter(([, { engines, optional }]) => engines?.node && optional !== true);
  expect(others.length).toBeGreaterThan(100);
  expect(others.filter(([, { engines }]) => !admitsNode20(engines?.node as string))).toEqual([]);
});
