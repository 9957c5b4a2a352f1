import { attachDisplay, formatCell, type MimeBundle } from '../../core/display/display.ts';
import { drawFigureSvg } from './figure-svg.ts';

/** A figure as Plotly takes it in any language: `Plotly.newPlot(node, data, layout)`, `plotly.io.from_json`. */
export interface PlotlyFigure {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly layout: Readonly<Record<string, unknown>>;
}

/** Grey that is legible on white and on black, and no background: a notebook may be light or dark. */
const LOOK = {
  paper_bgcolor: 'rgba(0,0,0,0)',
  plot_bgcolor: 'rgba(0,0,0,0)',
  font: { color: '#808080' },
} as const;
const GRID = { gridcolor: 'rgba(128,128,128,0.25)', zerolinecolor: 'rgba(128,128,128,0.5)', automargin: true } as const;

/** Where the values of a trace without places are. */
const VALUE_KEYS = ['values', 'r', 'value'];

function isList(value: unknown): value is readonly unknown[] | Float64Array {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** A list of numbers, typed arrays included; empty for another value. */
function listValues(value: unknown): readonly unknown[] {
  return isList(value) ? Array.from<unknown>(value) : [];
}

const isValue = (value: unknown) => value !== null && value !== undefined && !Number.isNaN(value);

/** Counts the points of a trace: cells of a heat map, places with an x and a y where both are given, else values of the one that is. */
export function countTracePoints(trace: Readonly<Record<string, unknown>>): number {
  const cells = listValues(trace.z).flatMap((row) => (isList(row) ? listValues(row) : [row]));
  if (cells.length > 0) return cells.filter(isValue).length;
  const [xs, ys] = [trace.x, trace.y].filter(isList).map(listValues);
  if (xs !== undefined) return xs.filter((x, at) => isValue(x) && (ys === undefined || isValue(ys[at]))).length;
  const key = VALUE_KEYS.find((name) => isList(trace[name]));
  return listValues(key === undefined ? [] : trace[key]).filter(isValue).length;
}

function readTitle(title: unknown): string {
  if (title !== null && typeof title === 'object') return String((title as { text?: unknown }).text ?? '');
  return title === undefined ? '' : String(title);
}

function describeTrace(trace: Readonly<Record<string, unknown>>): string {
  const count = countTracePoints(trace);
  const name = trace.name === undefined ? '' : `${formatCell(trace.name)}: `;
  return `${name}${formatCell(trace.type ?? 'scatter')} of ${count} ${count === 1 ? 'value' : 'values'}`;
}

function withGrid(layout: PlotlyFigure['layout'], axis: 'xaxis' | 'yaxis'): object {
  return { ...GRID, ...(layout[axis] as object | undefined) };
}

/** Typed arrays as plain ones: JSON writes a Float32Array as an object. */
function toPlain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return listValues(value).map((number) => (Number.isFinite(number) ? number : null));
  if (Array.isArray(value)) return value.map(toPlain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}

/** A figure for Plotly, as an SVG picture for front ends without Plotly, and a line for each trace as text. */
export function buildFigureBundle(figure: PlotlyFigure): MimeBundle {
  const data = toPlain(figure.data) as PlotlyFigure['data'];
  const layout = {
    ...LOOK,
    ...figure.layout,
    xaxis: withGrid(figure.layout, 'xaxis'),
    yaxis: withGrid(figure.layout, 'yaxis'),
  };
  const title = readTitle(figure.layout.title);
  const picture = drawFigureSvg({ data, layout });
  return {
    'text/plain': [title === '' ? 'figure' : title, ...data.map(describeTrace)].join('\n'),
    ...(picture === null ? {} : { 'image/svg+xml': picture }),
    'application/vnd.plotly.v1+json': { data, layout },
  };
}

/**
 * A figure for a notebook: the last value of a cell.
 *
 * @param data the traces of Plotly; values may be typed arrays.
 * @param layout of Plotly; the background is transparent unless it sets one.
 */
export function showFigure(data: PlotlyFigure['data'], layout: PlotlyFigure['layout'] = {}): PlotlyFigure {
  return attachDisplay({ data, layout }, buildFigureBundle);
}
