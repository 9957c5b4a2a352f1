import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';

const folder = fileURLToPath(new URL('../examples', import.meta.url));

/** What each example must print. */
const OUTPUT: Readonly<Record<string, RegExp>> = {
  'attend.ts': /^weights 0\.\d{3} 0\.\d{3} 0\.\d{3} 0\.\d{3}$/,
  'embed.ts': /^cosine of the first two turns: 0\.\d{3}$/,
  'evaluate.ts': /mrr@10['"]?: 0\.5,/,
  'filter.ts': /^true false\n\(\("channel" = \$1::text\) and .*\nsupport, outcome, 0\.5, \["fact","rule"\], kind$/,
  'late.ts': /^late +\.\d{3} /m,
  'load.ts': /^121 turns of 23 conversations, 46 queries\n/,
  'memory.ts': /^b 1\.00, a 0\.99, c 0\.94, d 0\.32\nmean 0\.75, interval 0\.30,0\.95, of 4$/,
  'paired-test.ts': /^0\.\d{3}, p [01]\.\d{3}, \d+ better, \d+ worse$/,
  'plot.ts': /^\{"data":\[\{"type":"scatter".*"y":\["fading"\]/,
  'rank.ts': /^"?q\d+-\d.*score/s,
  'search.ts': /^\d\.\d\d .+\n\d\.\d\d .+\n\d\.\d\d .+$/,
  'sweep.ts': /words \| decay\.halfLifeHours=96/,
  'train.ts': /bm25['"]?: -?\d+\.\d+/,
};

const lines: string[] = [];
vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => {
  lines.push(words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word, null, 1))).join(' '));
});
afterEach(() => void lines.splice(0));

test('there is a check of every example, and of nothing else', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  expect(names.sort()).toEqual(Object.keys(OUTPUT));
  expect(names).toHaveLength(13);
});

test.each(Object.keys(OUTPUT))('%s runs, in at most ten lines of code', async (name) => {
  await import(join(folder, name));
  expect(lines.join('\n')).toMatch(OUTPUT[name] as RegExp);
  const code = readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(\/\/.*)?$/.test(line));
  expect(code.length).toBeLessThanOrEqual(10);
});
