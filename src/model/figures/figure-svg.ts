import { escapeHtml } from '../../core/text/format.ts';
import {
  buildFigureScale,
  type ColourBar,
  drawBars,
  drawHeatMap,
  drawScatter,
  type FigureAxis,
  type FigureScale,
  listErrorEnds,
} from './figure-scale.ts';

/** The pixels of the axes of a picture. */
interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The part of a line of Plotly's `layout.shapes` that a picture heeds. */
interface LineShape {
  readonly type?: unknown;
  readonly xref?: unknown;
  readonly yref?: unknown;
  readonly line?: { readonly color?: unknown; readonly width?: unknown; readonly dash?: unknown };
  readonly [end: string]: unknown;
}

function listLines({ shapes }: Readonly<Record<string, unknown>>): LineShape[] {
  return Array.isArray(shapes) ? (shapes as LineShape[]).filter(({ type }) => type === 'line') : [];
}

/** True if an end is a share of the frame and not a value on the axis. */
function isShare(shape: LineShape, axis: 'x' | 'y'): boolean {
  return /^paper$| domain$/.test(String(shape[`${axis}ref`] ?? axis));
}

/** The ends of lines that are values on an axis: the axis reaches them. */
function listShapeEnds(layout: Readonly<Record<string, unknown>>, axis: 'x' | 'y'): unknown[] {
  return listLines(layout).flatMap((shape) => (isShare(shape, axis) ? [] : [shape[`${axis}0`], shape[`${axis}1`]]));
}

/** The lines of `layout.shapes`; other shapes are left out. */
function drawShapes(
  layout: Readonly<Record<string, unknown>>,
  scales: Readonly<Record<'x' | 'y', FigureScale>>,
  { left, right, top, bottom }: Frame,
  ink: string,
): string[] {
  const edges = { x: [left, right], y: [bottom, top] } as const;
  const place = (shape: LineShape, axis: 'x' | 'y', end: 0 | 1) => {
    const value = shape[`${axis}${end}`];
    const [from, to] = edges[axis];
    return isShare(shape, axis) ? from + Number(value) * (to - from) : scales[axis].place(value);
  };
  return listLines(layout).flatMap((shape) => {
    const ends = [place(shape, 'x', 0), place(shape, 'y', 0), place(shape, 'x', 1), place(shape, 'y', 1)];
    if (ends.includes(null)) return [];
    const [x0, y0, x1, y1] = ends.map((end) => (end as number).toFixed(1));
    const { color, width, dash } = shape.line ?? {};
    const stroke = typeof color === 'string' ? escapeHtml(color) : ink;
    const dashes = dash === undefined || dash === 'solid' ? '' : ' stroke-dasharray="2 3"';
    const thick = typeof width === 'number' ? width : 1;
    return [`<path d="M${x0} ${y0}L${x1} ${y1}" stroke="${stroke}" stroke-width="${thick}"${dashes} fill="none"/>`];
  });
}

interface Figure {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly layout: Readonly<Record<string, unknown>>;
}

const WIDTH = 720;
const HEIGHT = 420;
/** Legible on white and on black. */
const INK = '#808080';
/** Of one character of a label. */
const CHARACTER = 6.5;
const LONGEST_LABEL = 34;
/** The colours of Plotly, in its order. */
const COLOURS = ['#636efa', '#ef553b', '#00b386', '#ab63fa', '#ffa15a', '#19a3c3', '#ff6692', '#7fa83c'];

const DRAWN = ['scatter', 'bar', 'heatmap'];

function shorten(text: string): string {
  return text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text;
}

function readText(value: unknown): string {
  const text = value !== null && typeof value === 'object' ? (value as { text?: unknown }).text : value;
  return text === undefined || text === null
    ? ''
    : String(text)
        .replace(/<br>/g, ' ')
        .replace(/<[^>]+>/g, '');
}

function writeText(x: number, y: number, text: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${escapeHtml(text)}</text>`;
}

/** The values of all traces and shapes on an axis; a trace without x counts from 0. */
function listAxisValues({ data, layout }: Figure, axis: 'x' | 'y'): unknown[] {
  const values = data.flatMap((trace) => {
    const given = trace[axis];
    if (Array.isArray(given)) return axis === 'x' ? [...given, ...listErrorEnds(trace).flat()] : given;
    const rows = (trace.z ?? []) as readonly (readonly unknown[])[];
    if (trace.type === 'heatmap') return (axis === 'y' ? rows : (rows[0] ?? [])).map((_, at) => String(at));
    return ((trace.y ?? []) as unknown[]).map((_, at) => at);
  });
  return [...values, ...listShapeEnds(layout, axis)];
}

function drawAxes(
  frame: Frame,
  scales: Readonly<Record<'x' | 'y', FigureScale>>,
  axes: Readonly<Record<'x' | 'y', FigureAxis>>,
): string[] {
  const { left, right, top, bottom } = frame;
  const lines: string[] = [];
  const [x, y] = [axes.x, axes.y];
  const tilted = scales.x.ticks.some(({ text }) => text.length * CHARACTER > (right - left) / scales.x.ticks.length);
  for (const { pixel, text } of x.visible === false || x.showticklabels === false ? [] : scales.x.ticks) {
    const at = pixel.toFixed(1);
    const turn = tilted ? ` text-anchor="end" transform="rotate(-35 ${at} ${bottom + 14})"` : ' text-anchor="middle"';
    lines.push(`<path d="M${at} ${top}V${bottom}" stroke="${INK}" stroke-opacity="0.2"/>`);
    lines.push(writeText(pixel, bottom + 16, shorten(text), turn));
  }
  for (const { pixel, text } of y.visible === false || y.showticklabels === false ? [] : scales.y.ticks) {
    lines.push(`<path d="M${left} ${pixel.toFixed(1)}H${right}" stroke="${INK}" stroke-opacity="0.2"/>`);
    lines.push(writeText(left - 6, pixel + 4, shorten(text), ' text-anchor="end"'));
  }
  const middle = (top + bottom) / 2;
  const titles = { x: readText(x.title), y: readText(y.title) };
  if (titles.x !== '')
    lines.push(writeText((left + right) / 2, bottom + (tilted ? 74 : 38), titles.x, ' text-anchor="middle"'));
  if (titles.y !== '')
    lines.push(
      writeText(14, middle, titles.y, ` text-anchor="middle" transform="rotate(-90 14 ${middle.toFixed(1)})"`),
    );
  return lines;
}

function drawColourBar({ colours, low, high }: ColourBar, { right, top, bottom }: Frame): string[] {
  const height = (bottom - top) / colours.length;
  const steps = colours.map((colour, at) => {
    const y = bottom - (at + 1) * height;
    return `<rect x="${right + 14}" y="${y.toFixed(1)}" width="12" height="${(height + 0.5).toFixed(1)}" fill="${colour}"/>`;
  });
  return [...steps, writeText(right + 30, top + 10, high), writeText(right + 30, bottom, low)];
}

function drawLegend(
  names: readonly { readonly name: string; readonly colour: string }[],
  { right, top }: Frame,
): string[] {
  return names.flatMap(({ name, colour }, at) => [
    `<rect x="${right + 14}" y="${top + at * 18}" width="12" height="4" fill="${colour}"/>`,
    writeText(right + 32, top + at * 18 + 6, shorten(name)),
  ]);
}

/** A scale has to be known for the width of its labels, and the width for the other scale. */
function measureFrame(figure: Figure, axes: Readonly<Record<'x' | 'y', FigureAxis>>, legend: readonly string[]): Frame {
  const { data, layout } = figure;
  const height = typeof layout.height === 'number' ? layout.height : HEIGHT;
  const longest = (texts: readonly string[]) => CHARACTER * Math.max(0, ...texts.map((text) => shorten(text).length));
  const labels =
    axes.y.visible === false
      ? []
      : buildFigureScale(listAxisValues(figure, 'y'), axes.y, [height, 0]).ticks.map(({ text }) => text);
  const below = buildFigureScale(listAxisValues(figure, 'x'), axes.x, [0, WIDTH]).ticks.some(
    ({ text }) => text.length > 8,
  );
  return {
    left: 14 + longest(labels) + (readText(axes.y.title) === '' ? 0 : 16),
    right: WIDTH - (legend.length > 0 ? 40 + longest(legend) : data.some(({ type }) => type === 'heatmap') ? 76 : 16),
    top: readText(layout.title) === '' ? 14 : 40,
    bottom: height - (below ? 86 : 46),
  };
}

/**
 * A figure of Plotly as a picture for front ends without Plotly: lines, markers, bars, heat maps and the lines of
 * `layout.shapes` on one pair of axes.
 *
 * @returns null for a figure with other traces.
 */
export function drawFigureSvg(figure: Figure): string | null {
  const { data, layout } = figure;
  if (!data.every(({ type = 'scatter' }) => DRAWN.includes(String(type)))) return null;
  const axes = { x: (layout.xaxis ?? {}) as FigureAxis, y: (layout.yaxis ?? {}) as FigureAxis };
  const named = data.flatMap((trace, at) =>
    trace.name === undefined || trace.showlegend === false
      ? []
      : [{ name: String(trace.name), colour: COLOURS[at % COLOURS.length] as string }],
  );
  const legend = named.length > 1 && layout.showlegend !== false ? named : [];
  const frame = measureFrame(
    figure,
    axes,
    legend.map(({ name }) => name),
  );
  const bars = data.filter(({ type }) => type === 'bar');
  const isLying = bars.some(({ orientation }) => orientation === 'h');
  const scales = {
    x: buildFigureScale(listAxisValues(figure, 'x'), axes.x, [frame.left, frame.right], isLying),
    y: buildFigureScale(listAxisValues(figure, 'y'), axes.y, [frame.bottom, frame.top], bars.length > 0 && !isLying),
  };
  const bodies = data.map((trace, at) => {
    const colour = COLOURS[at % COLOURS.length] as string;
    if (trace.type === 'heatmap') return drawHeatMap(trace, scales);
    const lines =
      trace.type === 'bar'
        ? drawBars(trace, scales, colour, bars.indexOf(trace), bars.length)
        : drawScatter(trace, scales, colour);
    return { lines, bar: null };
  });
  const bar = bodies.find(({ bar: found }) => found !== null)?.bar;
  const height = typeof layout.height === 'number' ? layout.height : HEIGHT;
  const title = readText(layout.title);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12" fill="${INK}">`,
    ...(title === '' ? [] : [writeText(frame.left, 22, title, ' font-size="15"')]),
    ...drawAxes(frame, scales, axes),
    ...drawShapes(layout, scales, frame, INK),
    ...bodies.flatMap(({ lines }) => lines),
    ...(bar === undefined || bar === null ? [] : drawColourBar(bar, frame)),
    ...drawLegend(legend, frame),
    '</svg>',
  ].join('\n');
}
