import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** A marked block of code, and the block of text after it: what it prints. */
const examples = [...readme.matchAll(/<!-- example -->\n```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)];

/** As somebody would run it who has installed the package, with the source in place of what is built from it. */
function runSnippet(code: string): string {
  const runnable = code.replace(/'rag-plusplus\/([a-z]+)'/g, (_, room: string) =>
    JSON.stringify(new URL(`${room}/index.ts`, import.meta.url).href),
  );
  const command = ['--import', 'tsx', '--input-type=module', '-e', runnable];
  return execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
}

test('every example of README prints what README says', () => {
  expect(examples.length).toBe(readme.split('<!-- example -->').length - 1);
  expect(examples.length).toBeGreaterThan(0);
  for (const [, code, output] of examples) expect(runSnippet(code as string)).toBe(output);
});
