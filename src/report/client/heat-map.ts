import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';
import type { Point } from './sweep.ts';
import * as sweep from './sweep.ts';

export function start(state: App): void {
  if (!dom.has('heat-map')) return;
  const node = dom.byId('heat-map');
  const draw = () => {
    dom.byId('sweep-map').hidden = state.choice.by < 0;
    if (state.choice.by >= 0) drawMap(state, node);
  };
  app.watch(state, ['metric', 'across', 'by', 'held', 'filter'], draw);
  plot.onNewLook(draw);
}

/** [levels by][levels across] */
export function cellsOf(state: App): (Point | null)[][] {
  const { factors } = state.data;
  const { across, by } = state.choice;
  const columns = factors[across]?.levels ?? [];
  const rows = factors[by]?.levels ?? [];
  return rows.map((_, row) => columns.map((__, column) => sweep.pointOf(state, sweep.armsAt(state, column, row))));
}

function drawMap(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const { across, by, metric } = state.choice;
  const [columns, rows] = [factors[across], factors[by]];
  const cells = cellsOf(state);
  const layout = {
    xaxis: plot.axis(columns?.name ?? '', { ...plot.named(columns?.levels ?? []), showgrid: false }),
    yaxis: plot.axis(rows?.name ?? '', { ...plot.named(rows?.levels ?? []), showgrid: false }),
    hovermode: 'closest',
  };
  plot.draw(node, [mapTrace(state, cells)], 46 * cells.length + 90, layout);
  node.setAttribute(
    'aria-label',
    `${metrics[metric]} by ${columns?.name} and ${rows?.name}, a cell for each pair of levels`,
  );
}

export function mapTrace(state: App, cells: readonly (readonly (Point | null)[])[]): object {
  const count = cells.length * (cells[0]?.length ?? 0);
  const [pale, strong] = [dom.styleValue('--raised'), dom.styleValue('--better')];
  const each = <T>(write: (point: Point) => T) =>
    cells.map((row) => row.map((point) => (point === null ? null : write(point))));
  return {
    type: 'heatmap',
    z: each(({ mean }) => mean),
    text: each(({ mean }) => format.decimal(mean, 3)),
    customdata: each((point) => hoverText(state, point)),
    texttemplate: count <= 150 ? '%{text}' : '',
    textfont: { color: dom.styleValue('--ink') },
    hovertemplate: '%{customdata}<extra></extra>',
    hoverongaps: false,
    colorscale: [
      [0, pale],
      [1, plot.between(pale, strong, 0.55)], // so that the ink is readable on it
    ],
    showscale: false,
    xgap: 2,
    ygap: 2,
  };
}

export function hoverText(state: App, { mean, low, high, arms }: Point): string {
  const figures = format.estimate({ mean, low, high }, format.decimal, 3);
  const name = arms.length === 1 ? plot.plainText(state.data.arms[arms[0] ?? -1]?.name ?? '') : `${arms.length} arms`;
  return `${name}<br>${figures}`;
}
