import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The marked blocks of code of a page, each with the block of text after it: what it prints. */
function readExamples(page: string) {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
  const examples = [...text.matchAll(/<!-- example -->\n```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)];
  return { examples, marks: text.split('<!-- example -->').length - 1 };
}

/** As somebody would run it who has installed the package, with the source in place of what is built from it. */
function runSnippet(code: string): string {
  const runnable = code.replace(/'rag-plusplus\/([a-z]+)'/g, (_, room: string) =>
    JSON.stringify(new URL(`${room}/index.ts`, import.meta.url).href),
  );
  const command = ['--import', 'tsx', '--input-type=module', '-e', runnable];
  return execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
}

test.each(['README.md', 'docs/reports.md'])('every example of %s prints what the page says', (page) => {
  const { examples, marks } = readExamples(page);
  expect(examples.length).toBe(marks);
  expect(examples.length).toBeGreaterThan(0);
  for (const [, code, output] of examples) expect(runSnippet(code as string)).toBe(output);
});
