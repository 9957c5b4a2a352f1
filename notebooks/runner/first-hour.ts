/** Opens notebook 07 in Jupyter and Chromium, executes it, and measures the time to ranked answers: `npx tsx notebooks/runner/first-hour.ts FOLDER`. */

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium, errors, type Page } from 'playwright-core';
import { RagPlusPlusError, ValidationError } from '../../src/core/errors/errors.ts';
import {
  executeCells,
  listErrors,
  listExpectedOutputs,
  openNotebook,
  takePictures,
  waitForEnd,
  waitForOutputs,
} from './classic-notebook.ts';
import { startJupyter } from './jupyter-server.ts';
import { NOTEBOOKS } from './machine.ts';
import { joinText, readNotebook } from './notebook.ts';

const NAME = '07-own-chats.ipynb';
/** From the opening of the notebook to ranked answers. */
const SECONDS = 300;
/** Until every cell is finished. */
const END_SECONDS = 600;
/** The kernel loses the value of a cell at times. */
const ATTEMPTS = 3;
/** The cell with the ranked answers is the one that has this code. */
const ANSWERS = 'caption: question';

/** Executes the open notebook until no output is lost. @returns the milliseconds to the answers, and what went wrong. */
async function execute(page: Page, started: number): Promise<{ answered: number | null; faults: string[] }> {
  const notebook = readNotebook(join(NOTEBOOKS, NAME));
  const expected = listExpectedOutputs(notebook);
  const answers = expected.find(({ cell }) => joinText(notebook.cells[cell]?.source ?? '').includes(ANSWERS));
  if (answers === undefined)
    throw new ValidationError(`no cell of ${NAME} with an output has the code: ${ANSWERS}; correct the name`, {});
  const countLeft = (seconds: number) => Math.max(1, started + 1000 * seconds - performance.now());
  let answered: number | null = null;
  for (let attempt = 1; ; attempt++) {
    await executeCells(page);
    const absent = await waitForOutputs(page, [answers], countLeft(SECONDS));
    if (absent.length === 0) answered ??= performance.now() - started;
    const lost = await waitForEnd(page, expected, countLeft(END_SECONDS));
    const shown = await listErrors(page);
    if (shown.length > 0) return { answered, faults: shown };
    if (lost.length === 0) return { answered, faults: [] };
    const remark = `no output of cells ${lost.join(', ')} in attempt ${attempt} of ${ATTEMPTS}`;
    if (attempt === ATTEMPTS) return { answered, faults: [remark] };
    console.log(remark);
  }
}

/** Executes the notebook in an open page and prints what it found. @returns whether all is well. */
async function visit(page: Page, address: string, folder: string): Promise<boolean> {
  const started = performance.now();
  const formatSeconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
  try {
    await openNotebook(page, address, 1000 * SECONDS);
    await takePictures(page, folder, 'opened');
    const { answered, faults } = await execute(page, started);
    if (answered === null) console.log(`${NAME}: no ranked answers`);
    else console.log(`${NAME}: ${formatSeconds(answered)} from opening to ranked answers`);
    console.log(`all cells: ${formatSeconds(performance.now() - started)}`);
    for (const fault of faults) console.log(fault);
    for (const path of await takePictures(page, folder, 'executed')) console.log(path);
    return answered !== null && answered <= 1000 * SECONDS && faults.length === 0;
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
    console.log(`${NAME}: nothing happened within the limit of ${SECONDS} s: ${error.message}`);
    await page.screenshot({ path: join(folder, 'failed.png') });
    return false;
  }
}

async function run(folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const jupyter = await startJupyter();
    try {
      return await visit(await browser.newPage({ colorScheme: 'light' }), jupyter.locate(NAME), folder);
    } finally {
      await jupyter.stop();
    }
  } finally {
    await browser.close();
  }
}

async function main(): Promise<number> {
  try {
    const [folder] = process.argv.slice(2);
    if (folder === undefined) throw new ValidationError('expected a folder for the pictures; name one', {});
    return (await run(resolve(folder))) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    console.error(error.message);
    return error instanceof ValidationError ? 2 : 1;
  }
}

process.exitCode = await main();
