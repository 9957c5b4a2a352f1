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
