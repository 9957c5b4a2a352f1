import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const KINDS = ['multi-hop', 'open-domain', 'temporal', 'single-hop'];

test('the table of the page counts the lost turns that were read', () => {
  const [header, ...lines] = read('lost-turns.csv').trimEnd().split('\n');
  expect(header).toBe('question,turn,rank,kind,cause,second');
  const rows = lines.map((line) => line.split(','));
  const counted = new Map<string, number[]>();
  for (const [, , rank, kind, cause] of rows) {
    const counts = counted.get(cause as string) ?? [0, 0, 0, 0, 0, 0];
    const isNear = rank !== '' && Number(rank) <= 20;
    for (const at of [0, 1 + KINDS.indexOf(kind as string), ...(isNear ? [5] : [])]) counts[at] = (counts[at] ?? 0) + 1;
    counted.set(cause as string, counts);
  }
  const page = read('README.md');
  const [table] = /\| cause [\s\S]*?\n\n/.exec(page) as RegExpExecArray;
  const stated = table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, 8)
        .map((cell) => cell.trim()),
    );
  expect(stated).toEqual(
    Array.from(counted, ([cause, counts]) => [cause, ...counts.map(String)]).sort(
      (a, b) => Number(b[1]) - Number(a[1]),
    ),
  );
  expect(new Set(rows.map(([question]) => question)).size).toBe(100);
  expect(page).toContain(`71 of ${rows.length} turns`);
  expect((counted.get('elsewhere')?.[0] ?? 0) + (counted.get('label')?.[0] ?? 0)).toBe(71);
});
