import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADMISSIBILITY_REASONS } from './signatures/admissibility-error.ts';

const page = readFileSync(new URL('../../docs/threat-model.md', import.meta.url), 'utf8');
const [, table = ''] = page.split('## Attacks and defences');
const rows = [...table.matchAll(/^\| (.+?) \| (.+?) \| `([\w-]+\.test\.ts)`: (.+) \|$/gm)].map(
  ([, attack, reasons = '', file = '', tests = '']) => ({
    attack,
    reasons: [...reasons.matchAll(/`([\w-]+)`/g)].map(([, reason]) => reason),
    file,
    tests: [...tests.matchAll(/"([^"]+)"/g)].map(([, name]) => name as string),
  }),
);

test('the threat model names tests that exist, one or more for each attack', () => {
  const known = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  expect(rows.length).toBeGreaterThan(20);
  for (const { attack, file, tests } of rows) {
    const path = known.find((other) => other.endsWith(`/${file}`)) ?? file;
    const source = readFileSync(join(import.meta.dirname, path), 'utf8');
    expect(tests, attack).not.toEqual([]);
    expect(
      tests.filter((name) => !source.includes(`'${name}'`)),
      file,
    ).toEqual([]);
  }
});

test('it names the reasons that a client can meet, and no other', () => {
  const named = rows.flatMap(({ reasons }) => reasons);
  const ofKernel = /^(kernel-.*|no-anchor|unknown-anchor|unknown-policy|limit)$/;
  expect([...new Set(named)].toSorted()).toEqual(
    ADMISSIBILITY_REASONS.filter((reason) => !ofKernel.test(reason)).toSorted(),
  );
});

test('every attempt to step around a slice is in it', () => {
  const source = readFileSync(new URL('bypass.test.ts', import.meta.url), 'utf8');
  const titles = [...source.matchAll(/^ +(?:test\(|\[)'([^']+)',/gm)].map(([, title]) => title as string);
  const named = new Set(rows.flatMap(({ tests }) => tests));
  expect(titles.filter((title) => !named.has(title))).toEqual([]);
  expect(titles.length).toBeGreaterThan(25);
});
