import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { clientScript, trainingScript } from './client-script.ts';

/** The script as the command line makes it, where esbuild has stripped the types. */
function scriptOfCommandLine(name: string): string {
  const code = `import { ${name} } from ${JSON.stringify(new URL('client-script.ts', import.meta.url).href)}; process.stdout.write(${name}());`;
  return execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { encoding: 'utf8' });
}

test.each([
  ['a run, here', clientScript],
  ['a run, on the command line', () => scriptOfCommandLine('clientScript')],
  ['a training, here', trainingScript],
  ['a training, on the command line', () => scriptOfCommandLine('trainingScript')],
])('the script is plain JavaScript without imports, of %s', (_, make) => {
  const script = make();
  expect(() => new Script(script)).not.toThrow();
  expect(script).not.toMatch(/\bimport\b|__vi_|\brequire\b|innerHTML|https?:/);
});

test.each([
  ['../client', clientScript],
  ['../client/training', trainingScript],
])('every file of %s is in its script', (folder, make) => {
  const names = readdirSync(fileURLToPath(new URL(folder, import.meta.url)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !make().includes(`const ${name} = (`))).toEqual([]);
});
