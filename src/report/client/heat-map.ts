import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';
import type { Point } from './sweep.ts';
import * as sweep from './sweep.ts';

export function start(state: App): void {
  if (!dom.has('heat-map')) return;
  const node = dom.getElement('heat-map');
  const draw = () => {
    dom.getElement('sweep-map').hidden = state.choice.by < 0;
    if (state.choice.by >= 0) drawMap(state, node);
  };
  app.watch(state, ['metric', 'across', 'by', 'held', 'filter'], draw);
  plot.redrawOnNewLook(draw);
}

/** [levels by][levels across] */
export function computeHeatCells(state: App): (Point | null)[][] {
  const { factors } = state.data;
  const { across, by } = state.choice;
  const columns = factors[across]?.levels ?? [];
  const rows = factors[by]?.levels ?? [];
  return rows.map((_, row) =>
    columns.map((__, column) => sweep.computeSweepPoint(state, sweep.listArmsAt(state, column, row))),
  );
}

function drawMap(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const { across, by, metric } = state.choice;
  const [columns, rows] = [factors[across], factors[by]];
  const cells = computeHeatCells(state);
  const layout = {
    xaxis: plot.buildAxis(columns?.name ?? '', { ...plot.buildNamedTicks(columns?.levels ?? []), showgrid: false }),
    yaxis: plot.buildAxis(rows?.name ?? '', { ...plot.buildNamedTicks(rows?.levels ?? []), showgrid: false }),
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
  const [pale, strong] = [dom.readStyleValue('--raised'), dom.readStyleValue('--better')];
  const mapCells = <T>(write: (point: Point) => T) =>
    cells.map((row) => row.map((point) => (point === null ? null : write(point))));
  return {
    type: 'heatmap',
    z: mapCells(({ mean }) => mean),
    text: mapCells(({ mean }) => format.formatDecimal(mean, 3)),
    customdata: mapCells((point) => formatHoverText(state, point)),
    texttemplate: count <= 150 ? '%{text}' : '',
    textfont: { color: dom.readStyleValue('--ink') },
    hovertemplate: '%{customdata}<extra></extra>',
    hoverongaps: false,
    colorscale: [
      [0, pale],
      [1, plot.mixColours(pale, strong, 0.55)], // so that the ink is readable on it
    ],
    showscale: false,
    xgap: 2,
    ygap: 2,
  };
}

export function formatHoverText(state: App, { mean, low, high, arms }: Point): string {
  const figures = format.estimate({ mean, low, high }, format.formatDecimal, 3);
  const name =
    arms.length === 1 ? plot.escapePlotlyText(state.data.arms[arms[0] ?? -1]?.name ?? '') : `${arms.length} arms`;
  return `${name}<br>${figures}`;
}
