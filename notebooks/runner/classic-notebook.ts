import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Notebook } from './notebook.ts';

/** What a cell shows after its execution, as an element of the page. */
export interface ExpectedOutput {
  /** The place of the cell among all cells. */
  readonly cell: number;
  readonly selector: string;
}

/** The representation that the classic notebook prefers, best first. */
const SHOWN_AS: readonly (readonly [type: string, selector: string])[] = [
  ['text/html', '.output_html > *'],
  ['image/svg+xml', '.output_svg svg path'],
  ['text/plain', '.output_text'],
];
const CELLS = '#notebook-container > .cell';
/** Pixels of a picture of the page. */
const SIZE = { width: 1200, height: 1400 };
/** The kernel sends some values after the end of their cell. */
const LATE_MILLISECONDS = 15_000;

/** The outputs that the committed notebook has. */
export function listExpectedOutputs({ cells }: Notebook): ExpectedOutput[] {
  return cells.flatMap(({ outputs = [] }, cell) =>
    outputs.flatMap(({ data }) => {
      const shown = SHOWN_AS.find(([type]) => data !== undefined && type in data);
      return shown === undefined ? [] : [{ cell, selector: shown[1] }];
    }),
  );
}

/** Opens a notebook and waits for its kernel. */
export async function openNotebook(page: Page, address: string, timeout: number): Promise<void> {
  await page.setViewportSize(SIZE);
  await page.goto(address, { timeout });
  await page.waitForSelector('#kernel_indicator_icon.kernel_idle_icon', { state: 'attached', timeout });
}

/** Executes all cells by the menu. The committed outputs are removed before. */
export async function executeCells(page: Page): Promise<void> {
  for (const [menu, entry] of [
    ['Cell', '#clear_all_output a'],
    ['Cell', '#run_all_cells a'],
  ] as const) {
    await page.click(`#menubar >> text="${menu}"`);
    if (entry.startsWith('#clear')) await page.hover('#all_outputs');
    await page.click(entry);
  }
}

/** The places of cells that do not show their output. */
function findMissing(page: Page, expected: readonly ExpectedOutput[]): Promise<number[]> {
  return page.evaluate(
    ([cells, outputs]) => {
      const all = document.querySelectorAll(cells);
      return outputs
        .filter(({ cell, selector }) => (all[cell]?.querySelector(selector) ?? null) === null)
        .map(({ cell }) => cell);
    },
    [CELLS, expected] as const,
  );
}

/**
 * Waits until some cells show their outputs, or the execution has ended: by an error, or with a number at every cell.
 *
 * @returns the places of cells without their output.
 */
export async function waitForOutputs(
  page: Page,
  outputs: readonly ExpectedOutput[],
  timeout: number,
): Promise<number[]> {
  await page.waitForFunction(
    ([cells, awaited]) => {
      const all = document.querySelectorAll(cells);
      const prompts = [...document.querySelectorAll('.code_cell .input_prompt')];
      return (
        document.querySelector('.output_error') !== null ||
        prompts.every(({ textContent }) => /\[\d+\]/.test(textContent ?? '')) ||
        awaited.every(({ cell, selector }) => (all[cell]?.querySelector(selector) ?? null) !== null)
      );
    },
    [CELLS, outputs] as const,
    { timeout },
  );
  return findMissing(page, outputs);
}

/** Waits for the end of the execution, and after the end for late outputs. @returns the places of cells without their output. */
export async function waitForEnd(page: Page, outputs: readonly ExpectedOutput[], timeout: number): Promise<number[]> {
  const never = { cell: -1, selector: 'body' };
  await waitForOutputs(page, [never], timeout);
  const late = performance.now() + LATE_MILLISECONDS;
  for (;;) {
    const missing = await findMissing(page, outputs);
    const isOver = missing.length === 0 || performance.now() > late || (await listErrors(page)).length > 0;
    if (isOver) return missing;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

/** The texts of errors that cells show. */
export function listErrors(page: Page): Promise<string[]> {
  return page.locator('.output_error').allInnerTexts();
}

/** Takes pictures of the whole notebook, from above to below. @returns their paths. */
export async function takePictures(page: Page, folder: string, name: string): Promise<string[]> {
  const height = await page.evaluate(
    () => (document.querySelector('#notebook-container')?.getBoundingClientRect().height ?? 0) + 200,
  );
  await page.setViewportSize({ width: SIZE.width, height: Math.ceil(height) });
  await page.evaluate(() => document.querySelector('#site')?.scrollTo(0, 0));
  const paths: string[] = [];
  for (let y = 0; y < height; y += SIZE.height) {
    const path = join(folder, `${name}-${paths.length + 1}.png`);
    const clip = { x: 0, y, width: SIZE.width, height: Math.min(SIZE.height, Math.ceil(height) - y) };
    await page.screenshot({ path, clip });
    paths.push(path);
  }
  await page.setViewportSize(SIZE);
  return paths;
}
