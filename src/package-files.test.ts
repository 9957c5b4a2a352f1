import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from './lab/config/config.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ragpp-package-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The files that an installed package has, but for what is built. */
function listPackedFiles(): string[] {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(text) as [{ readonly files: readonly { readonly path: string }[] }];
  return packed.files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'));
}

test('every config of an installed package finds the files that it names', () => {
  const files = listPackedFiles();
  for (const file of files) cpSync(join(project, file), join(folder, file));
  const configs = files.filter((file) => /^configs\/(?!groups\/).*\.yaml$/.test(file));
  expect(configs).toContain('configs/locomo.yaml');
  expect(configs).toContain('configs/mail.yaml');
  const weighed = configs.filter((file) =>
    loadConfig(join(folder, file)).arms.some(({ mix }) => mix && 'weights' in mix && mix.origin !== null),
  );
  expect(weighed.length).toBeGreaterThanOrEqual(2);
});
