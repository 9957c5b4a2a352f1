import type { Page } from 'playwright-core';

/** What the Tab key finds on a page. */
interface TabWalk {
  /** Visible controls. */
  readonly count: number;
  /** Focused controls without a name or without an outline. */
  readonly faults: readonly string[];
  /** Controls that it never reaches. */
  readonly missed: readonly string[];
}

/** Goes through a page with the Tab key alone, from its top. */
export async function tabThrough(page: Page): Promise<TabWalk> {
  await page.evaluate(() => window.scrollTo(0, 0));
  const controls = page.locator('a[href], button, select, input, summary').filter({ visible: true });
  const count = await controls.count();
  await controls.evaluateAll((all) => {
    for (const [at, control] of all.entries()) control.setAttribute('data-control', String(at));
  });
  const reached = new Set<string>();
  const faults: string[] = [];
  for (let step = 0; step < 2 * count && reached.size < count; step++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const node = document.activeElement as HTMLInputElement | null;
      const label = node?.labels?.[0]?.textContent ?? node?.getAttribute('aria-label') ?? node?.textContent ?? '';
      const outlined = node !== null && getComputedStyle(node).outlineStyle !== 'none';
      return { at: node?.getAttribute('data-control') ?? '', label: label.trim(), outlined };
    });
    if (focused.at !== '' && (focused.label === '' || !focused.outlined)) faults.push(JSON.stringify(focused));
    if (focused.at !== '') reached.add(focused.at);
  }
  const missed = Array.from({ length: count }, (_, at) => String(at)).filter((at) => !reached.has(at));
  return { count, faults, missed };
}
