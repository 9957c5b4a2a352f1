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
  const layout = plot.buildCellLayout(
    { title: columns?.name ?? '', labels: columns?.levels ?? [] },
    { title: rows?.name ?? '', labels: rows?.levels ?? [] },
  );
  plot.draw(node, [mapTrace(state, cells)], 46 * cells.length + 90, layout);
  node.setAttribute(
    'aria-label',
    `${metrics[metric]} by ${columns?.name} and ${rows?.name}, a cell for each pair of levels`,
  );
}

/** Colours go from pale for the least mean to strong for the greatest. */
export function mapTrace(state: App, cells: readonly (readonly (Point | null)[])[]): object {
  const points = cells.flatMap((row, y) =>
    row.flatMap((point, x) => (point === null ? [] : [{ x, y, point } as const])),
  );
  const means = points.map(({ point }) => point.mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const isLabelled = cells.length * (cells[0]?.length ?? 0) <= 150;
  return plot.buildCellTrace(
    points.map(({ x, y, point }) => ({
      x,
      y,
      share: high === low ? 0.5 : (point.mean - low) / (high - low),
      label: isLabelled ? format.formatDecimal(point.mean, 3) : '',
      hover: formatHoverText(state, point),
    })),
    '--better',
  );
}

export function formatHoverText(state: App, { mean, low, high, arms }: Point): string {
  const figures = format.estimate({ mean, low, high }, format.formatDecimal, 3);
  const name =
    arms.length === 1 ? plot.escapePlotlyText(state.data.arms[arms[0] ?? -1]?.name ?? '') : `${arms.length} arms`;
  return `${name}<br>${figures}`;
}
