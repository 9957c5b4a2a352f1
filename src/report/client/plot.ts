import type * as domModule from './dom.ts';

declare const dom: typeof domModule;

/** The part of Plotly that the page uses. */
export interface Plotting {
  react(node: HTMLElement, traces: readonly object[], layout: object, config: object): Promise<unknown>;
}

declare const Plotly: Plotting;

export function isNarrow(): boolean {
  return matchMedia('(max-width: 700px)').matches;
}

/** Draws anew when the colour scheme or the kind of page width changes. */
export function onNewLook(draw: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(max-width: 700px)'])
    matchMedia(query).addEventListener('change', draw);
}

export function draw(node: HTMLElement, traces: readonly object[], height: number, layout: object): void {
  const font = { family: dom.styleValue('--sans'), size: 12.5, color: dom.styleValue('--ink') };
  const common = {
    height,
    font,
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    margin: { l: 8, r: 12, t: 8, b: 40 },
    showlegend: false,
    dragmode: false,
    hoverlabel: {
      bgcolor: dom.styleValue('--paper'),
      bordercolor: dom.styleValue('--undecided'),
      font,
      align: 'left',
    },
  };
  const config = { responsive: true, displaylogo: false, modeBarButtons: [['toImage']] };
  void Plotly.react(node, traces, { ...common, ...layout }, config);
}

/** About five round places between two numbers, as every number of the page is written. */
export function ticks(low: number, high: number, write: (value: number, digits: number) => string): object {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const digits = Math.max(1, -Math.floor(Math.log10(step)));
  const first = Math.ceil(low / step);
  const places = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => (first + at) * step);
  return { tickvals: places, ticktext: places.map((place) => (place === 0 ? '0' : write(place, digits))) };
}

export function axis(title: string, more: object): object {
  const line = dom.styleValue('--rule');
  const text = { text: plainText(title), standoff: 8, font: { size: 12.5, color: dom.styleValue('--quiet') } };
  const tickfont = { color: dom.styleValue('--ink') };
  return { title: text, tickfont, gridcolor: line, zerolinecolor: line, fixedrange: true, automargin: true, ...more };
}

/** A dotted line from top to bottom. */
export function verticalRule(x: number): object {
  const line = { color: dom.styleValue('--ink'), width: 1, dash: 'dot' };
  return { type: 'line', x0: x, x1: x, yref: 'paper', y0: 0, y1: 1, layer: 'below', line };
}

/** Plotly reads tags and entities in its texts; the data has none that are meant. */
export function plainText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
