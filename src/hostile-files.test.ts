import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOSTILE_FILES, writeHostileFiles } from './hostile-files.fixture.ts';
import type { HostileOutcome } from './hostile-files.harness.ts';

/** The most memory of this process or of another that reads a file, whatever the file states. */
const MOST_MIB = 300;

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const outcomes = new Map<string, HostileOutcome>();

beforeAll(() => {
  writeHostileFiles(folder);
  const harness = fileURLToPath(new URL('./hostile-files.harness.ts', import.meta.url));
  const options = ['--expose-gc', '--import', 'tsx', harness, folder, ...Object.keys(HOSTILE_FILES)];
  const lines = execFileSync(process.execPath, options, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .trim()
    .split('\n');
  for (const outcome of lines.map((line) => JSON.parse(line) as HostileOutcome)) outcomes.set(outcome.name, outcome);
}, 600_000);

test.each(Object.entries(HOSTILE_FILES))(
  '%s is read, or refused in one line, in little memory',
  (name, [, message]) => {
    const { error, peakMib } = outcomes.get(name) as HostileOutcome;
    if (message === null) expect(error).toBeNull();
    else {
      expect(error?.message).toMatch(message);
      expect(error?.message).toMatch(/^[^\n]+; [^\n]+$/);
      expect(error?.isOurs).toBe(true);
    }
    expect(peakMib ?? 0).toBeLessThan(MOST_MIB);
  },
);
