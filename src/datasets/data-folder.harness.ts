import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

/** Tests on real data that the project may not hold: they read `file` of the data folder beside the project, and skip with a printed reason if it is missing. */
export function describeData(name: string, file: string, tests: (path: string) => void): void {
  const path = fileURLToPath(new URL(`../../../shared/data/${file}`, import.meta.url));
  const missing = !existsSync(path);
  describe.skipIf(missing)(missing ? `${name} (skipped: no data folder with ${file})` : name, () => tests(path));
}
