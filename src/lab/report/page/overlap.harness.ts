import type { Page } from 'playwright-core';

/** Pairs of visible texts of one table whose boxes overlap, as `first | second`, with all that is folded shown. */
export function listOverlappingTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    const found: string[] = [];
    for (const table of document.querySelectorAll('table')) {
      const boxes: { text: string; node: Node; box: DOMRect }[] = [];
      const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const text = node.textContent?.trim() ?? '';
        if (text === '' || !node.parentElement?.checkVisibility({ visibilityProperty: true })) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) boxes.push({ text, node, box });
      }
      boxes.sort((a, b) => a.box.top - b.box.top);
      for (const [at, { text, node, box }] of boxes.entries())
        for (let next = at + 1; next < boxes.length; next++) {
          const other = boxes[next];
          if (other === undefined || other.box.top >= box.bottom - 1) break;
          const [left, right] = [Math.max(box.left, other.box.left), Math.min(box.right, other.box.right)];
          const low = Math.min(box.bottom, other.box.bottom);
          // Lines of a font may touch each other by a fraction of their height.
          const isHigh = low - other.box.top > 0.3 * Math.min(box.height, other.box.height);
          if (node !== other.node && right - left > 1 && isHigh) found.push(`${text} | ${other.text}`);
        }
    }
    return found;
  });
}
