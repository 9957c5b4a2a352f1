import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { OWN_GOLDEN, TOPICS } from '../lab/verification/verify.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-verify-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder with files of its own, by name. */
function writeFolderWith(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

interface Golden {
  readonly cases: { expected: unknown }[];
}
const readOwnFusion = () => JSON.parse(readFileSync(join(OWN_GOLDEN, 'fusion.json'), 'utf8')) as Golden;

// On cpu src/lab/verification/verify.test.ts goes through all of them.
test('every topic passes on wasm, a row each', async () => {
  const { code, stdout } = await runRagpp('verify', '--backend', 'wasm');
  const [first, header, ...rows] = stdout.trimEnd().split('\n');
  expect(first).toBe('backend wasm');
  expect(header).toMatch(/^topic +cases +worst absolute +worst relative +tolerance +result$/);
  expect(rows.at(-1)).toBe('all topics pass');
  expect(rows.slice(0, -1).every((row) => row.endsWith('  pass'))).toBe(true);
  expect(rows.slice(0, -1).map((row) => row.split(' ')[0])).toEqual(TOPICS.map(({ name }) => name).sort());
  expect(code).toBe(0);
});

test('a case that deviates fails its topic by name, and the exit code is 1', async () => {
  const golden = readOwnFusion();
  (golden.cases[0] as { expected: unknown }).expected = {};
  const folder = writeFolderWith('deviating', { 'fusion.json': JSON.stringify(golden) });
  copyFileSync(join(OWN_GOLDEN, 'stats.json'), join(folder, 'stats.json'));
  const { code, stdout, stderr } = await runRagpp('verify', '--backend', 'cpu', '--golden', folder);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fusion .* FAIL$/m);
  expect(stdout).toMatch(/^stats .* pass$/m);
  expect(stdout).toMatch(/^fusion: \S+/m);
  expect(stdout).toMatch(/^1 of 2 topics fail$/m);
  expect(stderr).toMatch(/^golden cases: \d+ in 2 topics \(\d+\.\d s\)\n$/);
});

test('a topic that is not known fails', async () => {
  const folder = writeFolderWith('unknown', { 'x.json': JSON.stringify({ ...readOwnFusion(), topic: 'astrology' }) });
  const { code, stdout } = await runRagpp('verify', '--backend', 'cpu', '--golden', folder);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^astrology: unknown topic, expected one of .*: astrology$/m);
});

test.each([
  ['is not there', () => join(root, 'none'), 1, /^ragpp \[STORAGE\]: cannot read folder .*: .*none; /],
  ['is empty', () => writeFolderWith('empty', {}), 1, /^ragpp \[STORAGE\]: cannot find a golden file .*empty; /],
  [
    'holds no JSON',
    () => writeFolderWith('text', { 'a.json': '{' }),
    1,
    /^ragpp \[STORAGE\]: cannot parse .*a\.json; /,
  ],
  [
    'holds other JSON',
    () => writeFolderWith('other', { 'a.json': '{}' }),
    2,
    /^ragpp \[CONFIGURATION\]: 3 errors in .*a\.json; correct and run again:\n {2}topic/,
  ],
])('a golden folder that %s is one clear error', async (_, folder, expected, message) => {
  const { code, stderr } = await runRagpp('verify', '--backend', 'cpu', '--golden', folder());
  expect(code).toBe(expected);
  expect(stderr.trimEnd()).toMatch(message);
});
