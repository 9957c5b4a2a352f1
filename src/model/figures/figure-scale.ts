import { escapeHtml, formatSignificant } from '../../core/text/format.ts';
import { getOrCompute } from '../../core/values/once.ts';

export type Trace = Readonly<Record<string, unknown>>;
type Scales = Readonly<Record<'x' | 'y', FigureScale>>;

/** The colours of a heat map from the least to the greatest value, and the two in words. */
export interface ColourBar {
  readonly colours: readonly string[];
  readonly low: string;
  readonly high: string;
}

/** Places along Viridis, red, green and blue. */
const VIRIDIS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;
const SHADES = 24;

function mixShade(at: number): string {
  const place = (at / (SHADES - 1)) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mix = [0, 1, 2].map((channel) => {
    const [a, b] = [VIRIDIS[low]?.[channel] as number, VIRIDIS[low + 1]?.[channel] as number];
    return Math.round(a + (place - low) * (b - a));
  });
  return `rgb(${mix.join(',')})`;
}

const pixel = (value: number) => value.toFixed(1);

/** The colour that a trace sets for all of its points. */
function readColour(part: unknown, fallback: string): string {
  const colour = (part as { color?: unknown } | undefined)?.color;
  return typeof colour === 'string' ? escapeHtml(colour) : fallback;
}

/** The points of a trace; null where a line is interrupted. */
function listPoints(trace: Trace, { x, y }: Scales): ({ x: number; y: number; at: number } | null)[] {
  const ys = (trace.y ?? []) as readonly unknown[];
  const xs = (trace.x ?? ys.map((_, at) => at)) as readonly unknown[];
  return ys.map((value, at) => {
    const [left, top] = [x.place(xs[at]), y.place(value)];
    return left === null || top === null ? null : { x: left, y: top, at };
  });
}

/** The ends of the bars of error along x, in the units of the axis; none for a trace without them. */
export function listErrorEnds(trace: Trace): (readonly [low: number, high: number])[] {
  const error = trace.error_x as { array?: readonly number[]; arrayminus?: readonly number[] } | undefined;
  if (error?.array === undefined) return [];
  return (trace.x as readonly number[]).map((value, at) => {
    const up = error.array?.[at] ?? 0;
    return [value - (error.arrayminus?.[at] ?? up), value + up];
  });
}

/** Bars of error along x. */
function drawErrors(trace: Trace, { x, y }: Scales, colour: string): string[] {
  const ys = trace.y as readonly unknown[];
  return listErrorEnds(trace).flatMap(([from, to], at) => {
    const ends = [x.place(from), x.place(to), y.place(ys[at])];
    if (ends.includes(null)) return [];
    const [low, high, top] = ends as [number, number, number];
    return [`<path d="M${pixel(low)} ${pixel(top)}H${pixel(high)}" stroke="${colour}" fill="none"/>`];
  });
}

/** Lines, markers and texts, as `mode` says. */
export function drawScatter(trace: Trace, scales: Scales, colour: string): string[] {
  const mode = String(trace.mode ?? 'lines');
  const points = listPoints(trace, scales);
  const drawn = drawErrors(trace, scales, colour);
  if (mode.includes('lines')) {
    const path = points.map((point, at) =>
      point === null ? '' : `${at === 0 || points[at - 1] === null ? 'M' : 'L'}${pixel(point.x)} ${pixel(point.y)}`,
    );
    const dash = (trace.line as { dash?: string } | undefined)?.dash === undefined ? '' : ' stroke-dasharray="4 3"';
    const stroke = readColour(trace.line, colour);
    drawn.push(`<path d="${path.join('')}" stroke="${stroke}" stroke-width="1.8"${dash} fill="none"/>`);
  }
  const fill = readColour(trace.marker, colour);
  const texts = (Array.isArray(trace.text) ? trace.text : []) as readonly unknown[];
  for (const point of points) {
    if (point === null) continue;
    if (mode.includes('markers'))
      drawn.push(`<circle cx="${pixel(point.x)}" cy="${pixel(point.y)}" r="4" fill="${fill}"/>`);
    if (mode.includes('text'))
      drawn.push(
        `<text x="${pixel(point.x)}" y="${pixel(point.y - 8)}" text-anchor="middle">${escapeHtml(String(texts[point.at] ?? ''))}</text>`,
      );
  }
  return drawn;
}

/** Bars from 0, those of several traces beside each other. */
export function drawBars(trace: Trace, { x, y }: Scales, colour: string, at: number, count: number): string[] {
  const isLying = trace.orientation === 'h';
  const [along, across] = isLying ? [y, x] : [x, y];
  const lengths = (isLying ? trace.x : trace.y) as readonly number[];
  const marks = (isLying ? trace.y : (trace.x ?? lengths.map((_, place) => place))) as readonly unknown[];
  const room = Math.min(along.step, along.step / (typeof marks[0] === 'number' ? marks.length : 1)) * 0.8;
  const zero = across.place(0) as number;
  const fill = readColour(trace.marker, colour);
  return lengths.flatMap((length, row) => {
    const [middle, end] = [along.place(marks[row]), across.place(length)];
    if (middle === null || end === null) return [];
    const start = pixel(middle - room / 2 + (at * room) / count);
    const [from, size] = [pixel(Math.min(zero, end)), pixel(Math.abs(end - zero))];
    const thick = pixel(room / count);
    return isLying
      ? [`<rect x="${from}" y="${start}" width="${size}" height="${thick}" fill="${fill}"/>`]
      : [`<rect x="${start}" y="${from}" width="${thick}" height="${size}" fill="${fill}"/>`];
  });
}

/** One path a shade: a picture of a rectangle for each cell would be ten times as large. */
export function drawHeatMap(trace: Trace, { x, y }: Scales): { lines: string[]; bar: ColourBar | null } {
  const rows = trace.z as readonly (readonly (number | null)[])[];
  const names = (given: unknown, count: number) =>
    Array.isArray(given) ? given : Array.from({ length: count }, (_, at) => String(at));
  const [columns, lines] = [names(trace.x, rows[0]?.length ?? 0), names(trace.y, rows.length)];
  const values = rows.flat().filter((value): value is number => typeof value === 'number');
  if (values.length === 0) return { lines: [], bar: null };
  const low = typeof trace.zmin === 'number' ? trace.zmin : values.reduce((a, b) => Math.min(a, b));
  const high = typeof trace.zmax === 'number' ? trace.zmax : values.reduce((a, b) => Math.max(a, b));
  const [width, height] = [measureCell(x, columns), measureCell(y, lines)];
  const paths = new Map<number, string[]>();
  for (const [row, cells] of rows.entries())
    for (const [column, value] of cells.entries()) {
      const [left, top] = [x.place(columns[column]), y.place(lines[row])];
      if (left === null || top === null || typeof value !== 'number') continue;
      const share = Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
      const shade = Math.round(share * (SHADES - 1));
      const cell = `M${pixel(left - width / 2)} ${pixel(top - height / 2)}h${pixel(width)}v${pixel(height)}h-${pixel(width)}z`;
      getOrCompute(paths, shade, () => [] as string[]).push(cell);
    }
  const drawn = [...paths].map(
    ([shade, cells]) => `<path shape-rendering="crispEdges" fill="${mixShade(shade)}" d="${cells.join('')}"/>`,
  );
  const colours = Array.from({ length: SHADES }, (_, at) => mixShade(at));
  return { lines: drawn, bar: { colours, low: formatSignificant(low), high: formatSignificant(high) } };
}

/** Pixels of a cell: of a category, or between the first two numbers. */
function measureCell(scale: FigureScale, names: readonly unknown[]): number {
  const [first, second] = [scale.place(names[0]), scale.place(names[1])];
  return first === null || second === null ? scale.step : Math.abs(second - first);
}

/** The values of an axis as pixels. */
export interface FigureScale {
  /** The pixel of a value; null for a value that is not on the axis. */
  place(value: unknown): number | null;
  readonly ticks: readonly { readonly pixel: number; readonly text: string }[];
  /** Pixels of one category; of the whole axis for numbers. */
  readonly step: number;
}

/** The part of an axis of Plotly that a picture heeds. */
export interface FigureAxis {
  readonly type?: string;
  readonly range?: readonly number[];
  readonly autorange?: unknown;
  readonly title?: unknown;
  readonly visible?: boolean;
  readonly showticklabels?: boolean;
}

/** Six digits at most and no zeros at the end: a tick is a round number. */
function writeTick(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** The greatest round step that gives about `count` ticks: 1, 2 or 5 times a power of ten. */
function chooseStep(span: number, count: number): number {
  const power = 10 ** Math.floor(Math.log10(span / count));
  return power * ([1, 2, 5].find((factor) => factor * power * count >= span) ?? 10);
}

/** Numbers with some room at both ends. */
function findRange(values: readonly number[], axis: FigureAxis, includesZero: boolean): [number, number] {
  if (axis.range !== undefined) return [axis.range[0] as number, axis.range[1] as number];
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of includesZero ? [...values, 0] : values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(low <= high)) return [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [includesZero && low === 0 ? 0 : low - room, includesZero && high === 0 ? 0 : high + room];
}

function listTicks(low: number, high: number, write: (value: number) => string): { value: number; text: string }[] {
  const [least, most] = low < high ? [low, high] : [high, low];
  const step = chooseStep(most - least, 6);
  const first = Math.ceil(least / step - 1e-9);
  const count = Math.floor(most / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, at) => Number(((first + at) * step).toPrecision(12))).map(
    (value) => ({ value, text: write(value) }),
  );
}

function buildNumberScale(
  values: readonly number[],
  axis: FigureAxis,
  [start, end]: readonly [number, number],
  includesZero: boolean,
): FigureScale {
  const isLog = axis.type === 'log';
  const transform = (value: number) => (isLog ? Math.log10(value) : value);
  const finite = values.map(transform).filter(Number.isFinite);
  const [low, high] = findRange(finite, axis, includesZero && !isLog);
  const [from, to] = axis.autorange === 'reversed' ? [end, start] : [start, end];
  const toPixel = (value: number) => from + ((value - low) / (high - low)) * (to - from);
  const write = (value: number) => (isLog ? (Number.isInteger(value) ? writeTick(10 ** value) : '') : writeTick(value));
  return {
    place(value) {
      const number = typeof value === 'number' ? transform(value) : Number.NaN;
      return Number.isFinite(number) ? toPixel(number) : null;
    },
    ticks: listTicks(low, high, write)
      .filter(({ text }) => text !== '')
      .map(({ value, text }) => ({ pixel: toPixel(value), text })),
    step: Math.abs(end - start),
  };
}

/** Pixels that the label of a category needs. */
const LABEL_PIXELS = 16;

function buildCategoryScale(
  names: readonly string[],
  axis: FigureAxis,
  [start, end]: readonly [number, number],
): FigureScale {
  const [from, to] = axis.autorange === 'reversed' ? [end, start] : [start, end];
  const step = (to - from) / Math.max(names.length, 1);
  const pixels = new Map(names.map((name, at) => [name, from + (at + 0.5) * step]));
  const every = Math.max(1, Math.ceil(LABEL_PIXELS / Math.abs(step)));
  return {
    place: (value) => pixels.get(String(value)) ?? null,
    ticks: names.filter((_, at) => at % every === 0).map((name) => ({ pixel: pixels.get(name) as number, text: name })),
    step: Math.abs(step),
  };
}

/**
 * The scale of an axis between two pixels: categories if a value is a text, numbers otherwise.
 *
 * @param includesZero whether bars start at 0.
 */
export function buildFigureScale(
  values: readonly unknown[],
  axis: FigureAxis,
  pixels: readonly [number, number],
  includesZero = false,
): FigureScale {
  const present = values.filter((value) => value !== null && value !== undefined);
  if (axis.type !== 'category' && !present.some((value) => typeof value === 'string'))
    return buildNumberScale(present as number[], axis, pixels, includesZero);
  return buildCategoryScale([...new Set(present.map(String))], axis, pixels);
}
