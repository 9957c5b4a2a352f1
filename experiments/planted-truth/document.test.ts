import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const DEPENDENCIES = ['time', 'thread', 'entity', 'correction'];
const MARKS: Readonly<Record<string, string>> = { better: ' ▲', worse: ' ▼', undecided: '' };

function formatGain(difference: number, verdict: string): string {
  const digits = Math.abs(difference).toFixed(3).replace(/^0/, '');
  return `${difference < 0 ? '−' : '+'}${digits}${MARKS[verdict]}`;
}

/** `"RCP, ring"` has a comma of its own. */
const splitRow = (line: string) =>
  [...line.matchAll(/"([^"]*)"|([^,]+)|(?<=,)(?=,)/g)].map(([cell, quoted]) => quoted ?? cell);

test('the gains in docs/findings.md are those of the published experiment', () => {
  const rows = read('results/planted-truth/table.csv').trim().split('\n').slice(1).map(splitRow);
  const gains = new Map<string, string[]>();
  for (const [dependency = '', strength, arm = '', , , , , difference, , , , , verdict = ''] of rows) {
    if (strength !== '1') continue;
    const cells = gains.get(arm) ?? [];
    cells[DEPENDENCIES.indexOf(dependency)] = formatGain(Number(difference), verdict);
    gains.set(arm, cells);
  }
  expect(gains.size).toBe(14);
  const document = read('docs/findings.md');
  for (const [arm, cells] of gains) expect(document).toContain(`| ${arm} | ${cells.join(' | ')} |`);
});
