import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../core/code/package-root.ts';
import { bundleClientScript, CLIENT_PAGES } from './client-script.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

test.each(CLIENT_PAGES)('the script of the page of a %s is plain JavaScript that loads nothing', (page) => {
  const script = bundleClientScript(page);
  expect(() => new Script(script)).not.toThrow();
  expect(script).toMatch(/^"use strict";\n\(\(\) => \{/);
  expect(script).not.toMatch(/\bimport\b|\bexport\b|__name|\brequire\b|innerHTML|https?:|<\/?script/i);
});

test('every file of the client is in a script, and a script has no other files but those of shared words', () => {
  const bundled = CLIENT_PAGES.flatMap((page) =>
    [...bundleClientScript(page).matchAll(/^ {2}\/\/ (\S+\.ts)$/gm)].map(([, file]) => file as string),
  );
  const files = readdirSync(fileOf('../client'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(20);
  const shared = ['../../../core/text/format.ts', '../../../eval/significance/verdict.ts', '../tables/format.ts'];
  expect([...new Set(bundled)].sort()).toEqual([...files, ...shared].sort());
});

describe('the built package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-client-'));
  const dist = join(folder, 'dist');
  const client = join(dist, 'lab', 'report', 'client');
  const built = join(dist, 'client-script.js');
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeAll(() => {
    execFileSync(process.execPath, ['--import', 'tsx', join(PROJECT_ROOT, 'build.ts'), dist]);
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    buildSync({
      entryPoints: [fileOf('client-script.ts')],
      outfile: built,
      bundle: true,
      format: 'esm',
      platform: 'node',
    });
  });

  /** What the built package answers, in a folder from which esbuild cannot be found. */
  function runBuilt(expression: string): string {
    const code = `const { CLIENT_PAGES, bundleClientScript } = await import(${JSON.stringify(pathToFileURL(built).href)});
      process.stdout.write(${expression});`;
    return execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' });
  }

  test('reads the scripts that the sources make', () => {
    const scripts = JSON.parse(runBuilt('JSON.stringify(CLIENT_PAGES.map(bundleClientScript))')) as string[];
    expect(scripts).toEqual(CLIENT_PAGES.map(bundleClientScript));
  });

  test('says how to make a script that is missing', () => {
    rmSync(join(client, 'comparison.js'));
    const message = runBuilt(
      "(() => { try { bundleClientScript('comparison'); } catch (error) { return error.message; } })()",
    );
    expect(message).toBe(
      `script of the page of a comparison is not available: no file ${join(client, 'comparison.js')}; run npm run build`,
    );
  });
});
