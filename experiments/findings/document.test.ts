import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../src/lab/run/environment.ts';

const page = readFileSync(join(PROJECT_ROOT, 'docs/findings.md'), 'utf8');

/** `[file](../file.test.ts): *name of a test*` */
const named = [...page.matchAll(/\]\(\.\.\/([^)]+\.test\.ts)\):\s+\*([^*]+)\*/g)].map(([, file, name]) => ({
  file: file as string,
  name: (name as string).replace(/\s+/g, ' '),
}));

test('every test that the page names is there', () => {
  const missing = named.filter(
    ({ file, name }) => !readFileSync(join(PROJECT_ROOT, file), 'utf8').includes(`'${name}'`),
  );
  expect(missing).toEqual([]);
  expect(named.length).toBe(page.split('.test.ts):').length - 1);
});

test('every finding names at least two', () => {
  const sections = page
    .split(/^## /m)
    .slice(1)
    .filter((section) => /^\d+\. /.test(section));
  expect(sections).toHaveLength(10);
  for (const section of sections) expect(section.split('.test.ts):').length).toBeGreaterThanOrEqual(3);
});
