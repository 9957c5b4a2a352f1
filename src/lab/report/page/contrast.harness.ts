import type { Page } from 'playwright-core';

/** A text whose colours are too close to each other. */
interface PaleText {
  readonly text: string;
  readonly selector: string;
  readonly ratio: number;
}

/**
 * The visible texts of a page that miss WCAG 2.2 AA: a contrast of 4.5, or 3 for large ones. Texts of figures count too: SVG is painted on the nearest
 * background of an HTML element, except labels inside bars, which lie on their bar.
 */
export function listPaleTexts(page: Page): Promise<PaleText[]> {
  return page.evaluate(() => {
    type Colour = [number, number, number, number];
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parse = (text: string): Colour => {
      if (canvas === null) throw new Error('no canvas');
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [red, green, blue, alpha / 255];
    };
    const lay = (above: Colour, below: Colour): Colour => {
      const mix = (at: 0 | 1 | 2) => above[at] * above[3] + below[at] * (1 - above[3]);
      return [mix(0), mix(1), mix(2), 1];
    };
    const findGround = (node: Element | null): Colour => {
      if (node === null) return parse('canvas');
      const own = node instanceof SVGElement ? ([0, 0, 0, 0] as Colour) : parse(getComputedStyle(node).backgroundColor);
      return own[3] === 1 ? own : lay(own, findGround(node.parentElement));
    };
    const luminance = (colour: Colour) => {
      const linear = colour.slice(0, 3).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
    };
    const findings: PaleText[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      const text = node.textContent?.trim() ?? '';
      if (element === null || text === '' || element.closest('script, style, noscript, .hoverlayer')) continue;
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const bar = element.closest('.point')?.querySelector('path');
      const ground = bar ? parse(getComputedStyle(bar).fill) : findGround(element);
      const ink = parse(element instanceof SVGElement ? style.fill : style.color);
      const [light, dark] = [luminance(lay(ink, ground)), luminance(ground)].sort((a, b) => b - a) as [number, number];
      const ratio = (light + 0.05) / (dark + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) {
        const selector = `${element.closest('[id]')?.id ?? ''} ${element.tagName}.${element.getAttribute('class') ?? ''}`;
        findings.push({ text: text.slice(0, 40), selector, ratio: Math.round(100 * ratio) / 100 });
      }
    }
    return findings;
  });
}
