import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { clientScript } from './client-script.ts';

const folder = fileURLToPath(new URL('client', import.meta.url));

/** The script as the command line makes it, where esbuild has stripped the types. */
function scriptOfCommandLine(): string {
  const code = `import { clientScript } from ${JSON.stringify(new URL('client-script.ts', import.meta.url).href)}; process.stdout.write(clientScript());`;
  return execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], { encoding: 'utf8' });
}

test.each([
  ['here', clientScript],
  ['on the command line', scriptOfCommandLine],
])('the script is plain JavaScript without imports, made %s', (_, make) => {
  const script = make();
  expect(() => new Script(script)).not.toThrow();
  expect(script).not.toMatch(/\bimport\b|__vi_|\brequire\b|innerHTML|https?:/);
});

test('every file of the client is in the script', () => {
  const names = readdirSync(folder)
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => file.replace('.ts', '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !clientScript().includes(`const ${name} = (`))).toEqual([]);
});
