import { escapeHtml } from '../text/escape-html.ts';
import type { FigureScale } from './figure-scale.ts';

/** The pixels of the axes of a picture. */
export interface Frame {
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

/** Whether an end is a share of the frame and not a value on the axis. */
function isShare(shape: LineShape, axis: 'x' | 'y'): boolean {
  return /^paper$| domain$/.test(String(shape[`${axis}ref`] ?? axis));
}

/** The ends of lines that are values on an axis: the axis reaches them. */
export function listShapeEnds(layout: Readonly<Record<string, unknown>>, axis: 'x' | 'y'): unknown[] {
  return listLines(layout).flatMap((shape) => (isShare(shape, axis) ? [] : [shape[`${axis}0`], shape[`${axis}1`]]));
}

/** The lines of `layout.shapes`; other shapes are left out. */
export function drawShapes(
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
