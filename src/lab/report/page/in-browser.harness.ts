import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';

const executable = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** A browser, and a way to give it a page as a file. */
interface OpenBrowser {
  readonly browser: () => Browser;
  /** @returns the path of the file. */
  readonly write: (html: string) => string;
}

/** Describes tests in Chromium; without it they are skipped with a printed reason. */
export function describeInBrowser(name: string, tests: (open: OpenBrowser) => void): void {
  const missing = !existsSync(executable);
  if (missing) console.warn(`skipped: ${name}, no Chromium (set CHROMIUM_PATH): ${executable}`);
  describe.skipIf(missing)(name, () => {
    const folder = mkdtempSync(join(tmpdir(), 'in-browser-'));
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true });
    });
    tests({
      browser: () => browser,
      write: (html) => {
        const file = join(folder, 'page.html');
        writeFileSync(file, html);
        return file;
      },
    });
  });
}
