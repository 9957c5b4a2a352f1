import * as dom from './dom.ts';
import * as downloads from './downloads.ts';

/** The part of Plotly that the page uses. */
interface Plotting {
  react(node: HTMLElement, traces: readonly object[], layout: object, config: object): Promise<unknown>;
}

declare const Plotly: Plotting;

/** The width of a figure on paper, in pixels: it fits between the margins of A4 and of Letter. */
const PAPER_WIDTH = 680;

/** The class of a page that is printed: figures have the width of paper, a narrow layout and light colours. */
const PRINTING = 'printing';

function isPrinting(): boolean {
  return document.documentElement?.classList.contains(PRINTING) ?? false;
}

export function isNarrow(): boolean {
  return isPrinting() || matchMedia('(max-width: 700px)').matches;
}

/** Draws again when the colour scheme or the kind of page width changes, and for paper. */
export function redrawOnNewLook(draw: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(max-width: 700px)'])
    matchMedia(query).addEventListener('change', draw);
  for (const [event, prints] of [
    ['beforeprint', true],
    ['afterprint', false],
  ] as const)
    addEventListener(event, () => {
      document.documentElement.classList.toggle(PRINTING, prints);
      draw();
    });
}

/** A figure's element: the drawing still to do, and whether it is about to be visible. */
interface Canvas extends HTMLElement {
  pending?: () => void;
  near?: boolean;
}

/**
 * Draws a figure as soon as the reader comes near it, so that a page with many arms opens quickly, and otherwise when
 * the browser has nothing else to do. Its room is kept free from the start.
 *
 * @param once called after the first drawing, when Plotly has extended the element.
 */
export function draw(
  node: Canvas,
  traces: readonly object[],
  height: number,
  layout: object,
  once: () => void = () => undefined,
): void {
  const isFirst = node.near === undefined;
  node.style.minHeight = `${height}px`;
  node.pending = () => {
    drawNow(node, traces, height, layout);
    if (!node.classList.contains('drawn')) {
      once();
      downloads.addDownloads(node);
    }
    node.classList.add('drawn');
  };
  if (isFirst) watchNearness(node);
  if (node.near || isPrinting()) drawPending(node);
  else drawWhenIdle(node);
}

/** A figure that is hidden has no width yet: it stays to be drawn. */
function drawPending(node: Canvas): void {
  if (node.pending === undefined || node.getClientRects().length === 0) return;
  node.pending();
  delete node.pending;
}

/** Figures that are drawn one at a time, so that the page answers its reader in between. */
const waiting: Canvas[] = [];

function drawWhenIdle(node: Canvas): void {
  if (waiting.push(node) === 1) callWhenIdle(drawNextWaiting);
}

function drawNextWaiting(): void {
  drawPending(waiting[0] as Canvas);
  waiting.shift();
  if (waiting.length > 0) callWhenIdle(drawNextWaiting);
}

/** Not every browser says when it is idle. */
function callWhenIdle(work: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(work);
  else setTimeout(work, 50);
}

function watchNearness(node: Canvas): void {
  node.near = false;
  const observer = new IntersectionObserver(
    (entries) => {
      node.near = entries.at(-1)?.isIntersecting ?? false;
      if (node.near) drawPending(node);
    },
    { rootMargin: '400px 0px' },
  );
  observer.observe(node);
}

function drawNow(node: HTMLElement, traces: readonly object[], height: number, layout: object): void {
  const font = { family: dom.readStyleValue('--sans'), size: 12.5, color: dom.readStyleValue('--ink') };
  const common = {
    height,
    width: isPrinting() ? PAPER_WIDTH : node.clientWidth, // without a width Plotly keeps that of the last drawing
    font,
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    margin: { l: 8, r: 12, t: 8, b: 40 },
    showlegend: false,
    dragmode: false,
    hoverlabel: {
      bgcolor: dom.readStyleValue('--paper'),
      bordercolor: dom.readStyleValue('--undecided'),
      font,
      align: 'left',
    },
  };
  const config = { responsive: true, displayModeBar: false };
  void Plotly.react(node, traces, { ...common, ...layout }, config);
}

/** The least round number that isn't below another one: 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

/** At most nine whole numbers from 0. */
export function buildWholeTicks(high: number): object {
  const step = roundStep(Math.max(1, high / 8));
  const tickPositions = Array.from({ length: Math.floor(high / step) + 1 }, (_, at) => at * step);
  return { tickvals: tickPositions, ticktext: tickPositions.map(String) };
}

/** About five round places between two numbers, or `count`, as every number of the page is written. */
export function buildRoundTicks(
  low: number,
  high: number,
  write: (value: number, digits: number) => string,
  count = 5,
): object {
  const step = roundStep((high - low) / count || 1);
  const digits = Math.max(1, -Math.floor(Math.log10(step)));
  const first = Math.ceil(low / step);
  const tickPositions = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => (first + at) * step);
  return {
    tickvals: tickPositions,
    ticktext: tickPositions.map((tickPosition) => (tickPosition === 0 ? '0' : write(tickPosition, digits))),
  };
}

export function buildAxis(title: string, more: object): object {
  const line = dom.readStyleValue('--rule');
  const text = {
    text: escapePlotlyText(title),
    standoff: 8,
    font: { size: 12.5, color: dom.readStyleValue('--quiet') },
  };
  const tickfont = { color: dom.readStyleValue('--ink') };
  return { title: text, tickfont, gridcolor: line, zerolinecolor: line, fixedrange: true, automargin: true, ...more };
}

/** A dotted line from top to bottom. */
export function buildDottedRule(x: number): object {
  const line = { color: dom.readStyleValue('--ink'), width: 1, dash: 'dot' };
  return { type: 'line', x0: x, x1: x, yref: 'paper', y0: 0, y1: 1, layer: 'below', line };
}

/** Parts of a layout: a dotted line from left to right with a name on it. */
export function buildNamedLevel(
  y: number,
  name: string,
): { readonly shapes: object[]; readonly annotations: object[] } {
  const color = dom.readStyleValue('--ink');
  const line = { color, width: 1, dash: 'dot' };
  const text = {
    text: formatRowName(name),
    font: { size: 12, color },
    bgcolor: dom.readStyleValue('--paper'),
    showarrow: false,
  };
  return {
    shapes: [{ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, layer: 'below', line }],
    annotations: [{ ...text, xref: 'paper', x: 1, xanchor: 'right', y, yanchor: 'bottom', opacity: 0.9 }],
  };
}

/** A text without its middle if it is too long: begin and end distinguish names. */
export function shortenMiddle(text: string, room: number): string {
  if (text.length <= room) return text;
  const end = Math.floor((room - 1) / 2);
  return `${text.slice(0, room - 1 - end)}…${text.slice(-end)}`;
}

/** A name as markup that fits beside or above its row. */
export function formatRowName(name: string): string {
  return escapePlotlyText(shortenMiddle(name, isNarrow() ? 46 : 80));
}

/** Whiskers of one dot, from the ends of its interval; none without an interval. */
export function buildWhiskers(middle: number, low: number | null, high: number | null): object {
  if (low === null || high === null) return { visible: false };
  return { type: 'data', symmetric: false, array: [high - middle], arrayminus: [middle - low] };
}

/** Escapes texts: Plotly interprets tags and entities in them. */
export function escapePlotlyText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Colours for series, as the style sheet has them; they repeat. */
export function readSeriesColour(at: number): string {
  return dom.readStyleValue(`--series-${at % 8}`);
}

/** A colour between two of the form #rrggbb. */
export function mixColours(from: string, to: string, share: number): string {
  const parseColourPart = (colour: string, at: number) => Number.parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);
  const mixed = [0, 1, 2].map((at) =>
    Math.round(parseColourPart(from, at) + share * (parseColourPart(to, at) - parseColourPart(from, at))),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Parts of a layout: a row of names of series above the figure, whatever its height; where that is narrow, below their title. */
export function buildLegendAbove(title = ''): object {
  const font = { size: 12, color: dom.readStyleValue('--ink') };
  const side = isNarrow() ? 'top' : 'left';
  const tickPosition = { orientation: 'h', x: 0, xanchor: 'left', y: 1, yref: 'container', yanchor: 'top' };
  const named = title === '' ? {} : { title: { text: `${escapePlotlyText(title)}  `, font, side } };
  return { legend: { ...tickPosition, ...named, traceorder: 'normal', font }, margin: { l: 8, r: 12, t: 44, b: 40 } };
}

/** Tick labels at whole numbers from 0. */
export function buildNamedTicks(labels: readonly string[]): object {
  return { tickvals: labels.map((_, at) => at), ticktext: labels.map(escapePlotlyText), zeroline: false };
}

/** An axis of rows from above and what else it needs: their names are left of the figure or, if it is narrow, above each row. Names are markup. */
export function buildRowAxis(names: readonly string[]): {
  readonly yaxis: object;
  readonly annotations: readonly object[];
} {
  const range = [names.length - 0.4, -0.8];
  const tickvals = names.map((_, at) => at);
  if (!isNarrow())
    return {
      yaxis: buildAxis('', { tickvals, ticktext: names, range, zeroline: false, ticklabelstandoff: 8 }),
      annotations: [],
    };
  const annotations = names.map((text, y) => ({
    x: 0,
    xref: 'paper',
    xanchor: 'left',
    y,
    yshift: 16,
    text,
    showarrow: false,
    font: { size: 12.5, color: dom.readStyleValue('--ink') },
  }));
  return { yaxis: buildAxis('', { tickvals, showticklabels: false, range, zeroline: false }), annotations };
}

/** A cell of a heat map; `share`, from 0 to 1, is the strength of its colour. */
export interface HeatCell {
  readonly x: number;
  readonly y: number;
  readonly share: number;
  readonly label: string;
  /** Markup. */
  readonly hover: string;
}

/** The cells of a heat map as bars of equal height: the library of the page has no trace for heat maps. */
export function buildCellTrace(cells: readonly HeatCell[], colour: string): object {
  const [pale, strong] = [dom.readStyleValue('--raised'), dom.readStyleValue(colour)];
  return {
    type: 'bar',
    x: cells.map(({ x }) => x),
    y: cells.map(() => 0.95),
    base: cells.map(({ y }) => y - 0.475),
    width: 0.97,
    text: cells.map(({ label }) => label),
    customdata: cells.map(({ hover }) => hover),
    hovertemplate: '%{customdata}<extra></extra>',
    textposition: 'inside',
    insidetextanchor: 'middle',
    textangle: 0,
    constraintext: 'none',
    insidetextfont: { color: dom.readStyleValue('--ink') },
    // At most .42, so that the ink has a contrast of 4.5 on it in both schemes.
    marker: { color: cells.map(({ share }) => mixColours(pale, strong, 0.42 * share)), line: { width: 0 } },
  };
}

/** Parts of a layout: the axes of the cells of {@link buildCellTrace}. */
export function buildCellLayout(
  x: { readonly title: string; readonly labels: readonly string[] },
  y: { readonly title: string; readonly labels: readonly string[] },
): { readonly xaxis: object; readonly yaxis: object; readonly barmode: string; readonly hovermode: string } {
  const buildSide = ({ title, labels }: typeof x) =>
    buildAxis(title, { ...buildNamedTicks(labels), showgrid: false, range: [-0.5, labels.length - 0.5] });
  return { xaxis: buildSide(x), yaxis: buildSide(y), barmode: 'overlay', hovermode: 'closest' };
}
