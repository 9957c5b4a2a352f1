import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSampleJsonl } from './lab/run/jsonl.fixture.ts';

/** The text that no output may hold. Letters and digits alone, so that no escape and no tokeniser changes it. */
export const SECRET = 'xq4711zw';

/** Rewrites the lines of a file. */
function rewriteLines(path: string, rewrite: (row: Record<string, unknown>, place: number) => object): void {
  const rows = readFileSync(path, 'utf8').trim().split('\n');
  writeFileSync(path, rows.map((row, place) => `${JSON.stringify(rewrite(JSON.parse(row), place))}\n`).join(''));
}

/**
 * Writes the made-up data of 23 threads: every third turn and every fifth query is sensitive, with the secret in its
 * text and its title.
 */
export function writeSecretJsonl(folder: string): void {
  writeSampleJsonl(folder);
  const mark = { sensitive: true, title: `about ${SECRET}` };
  const hide = (every: number) => (row: Record<string, unknown>, place: number) =>
    place % every === 0 ? { ...row, text: `${SECRET} ${row.text}`, attributes: mark } : row;
  rewriteLines(join(folder, 'turns.jsonl'), hide(3));
  rewriteLines(join(folder, 'queries.jsonl'), hide(5));
}
