/** Makes the picture of the report in README: `npx tsx website/picture.ts RUN-FOLDER` needs Chromium. */

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { ValidationError } from '../src/core/errors/errors.ts';

const SIZE = { width: 1100, height: 640 };

const [run] = process.argv.slice(2);
if (run === undefined) throw new ValidationError('expected the folder of a run; use results/runs/quickstart-HASH', {});

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
await page.goto(pathToFileURL(resolve(run, 'report.html')).href);
await page.waitForSelector('#query-list button');
await page.waitForSelector('#differences-figure.drawn');
await page.evaluate(() => document.querySelector('#differences')?.scrollIntoView({ behavior: 'instant' }));
await page.screenshot({ path: join(import.meta.dirname, '..', 'docs', 'images', 'report.png') });
await browser.close();
