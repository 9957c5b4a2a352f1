import type * as formatModule from '../format.ts';
import type * as appModule from './app.ts';
import type { App } from './app.ts';
import type * as domModule from './dom.ts';
import type * as heatMapModule from './heat-map.ts';
import type * as plotModule from './plot.ts';
import type * as sweepModule from './sweep.ts';
import type { Point } from './sweep.ts';

declare const app: typeof appModule;
declare const dom: typeof domModule;
declare const format: typeof formatModule;
declare const heatMap: typeof heatMapModule;
declare const plot: typeof plotModule;
declare const sweep: typeof sweepModule;

/** A line of points: a level of the factor by, or all arms. */
export interface Series {
  readonly name: string;
  readonly points: readonly (Point | null)[];
}

export function start(state: App): void {
  const node = dom.byId('interaction-plot');
  app.watch(state, ['metric', 'across', 'by', 'held', 'filter'], () => drawPlot(state, node));
  plot.onNewLook(() => drawPlot(state, node));
}

export function seriesOf(state: App): Series[] {
  const { factors } = state.data;
  const { across, by } = state.choice;
  const columns = factors[across]?.levels ?? [];
  const levels = by < 0 ? [''] : (factors[by]?.levels ?? []);
  return levels.map((name, level) => ({
    name,
    points: columns.map((_, column) => sweep.pointOf(state, sweep.armsAt(state, column, by < 0 ? -1 : level))),
  }));
}

export function drawPlot(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const { across, by, metric } = state.choice;
  const series = seriesOf(state);
  const bounds = series.flatMap(({ points }) =>
    points.flatMap((point) => (point === null ? [] : [point.low, point.high])),
  );
  const levels = factors[across]?.levels ?? [];
  const layout = {
    xaxis: plot.axis(factors[across]?.name ?? '', {
      ...plot.named(levels),
      showgrid: false,
      range: [-0.4, levels.length - 0.6],
    }),
    yaxis: plot.axis(metrics[metric] ?? '', {
      ...(bounds.length === 0 ? {} : plot.ticks(Math.min(...bounds), Math.max(...bounds), format.decimal)),
      zeroline: false,
    }),
    hovermode: 'closest',
    showlegend: by >= 0,
    ...(by < 0 ? {} : plot.legendAbove(factors[by]?.name)),
  };
  const traces = series.map((one, at) => seriesTrace(state, one, at, series.length));
  plot.draw(node, traces, 380, layout);
  const lines = by < 0 ? '' : `, a line for each level of ${factors[by]?.name}`;
  node.setAttribute('aria-label', `${metrics[metric]} by ${factors[across]?.name}${lines}, with intervals`);
}

/** Series stand a little beside each other, so that their whiskers do not hide one another. */
export function seriesTrace(state: App, { name, points }: Series, at: number, count: number): object {
  const color = plot.seriesColour(at);
  const beside = count < 2 ? 0 : (at / (count - 1) - 0.5) * Math.min(0.3, 0.06 * (count - 1));
  const whiskers = {
    type: 'data',
    symmetric: false,
    array: points.map((point) => (point === null ? null : point.high - point.mean)),
    arrayminus: points.map((point) => (point === null ? null : point.mean - point.low)),
  };
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name: plot.plainText(name),
    x: points.map((_, place) => place + beside),
    y: points.map((point) => point?.mean ?? null),
    connectgaps: true,
    error_y: { ...whiskers, color, thickness: 1.2, width: 3 },
    line: { color, width: 2, dash: at < 8 ? 'solid' : 'dot' },
    marker: { color, size: 7 },
    text: points.map((point) => (point === null ? '' : heatMap.hoverText(state, point))),
    hovertemplate: '%{text}<extra></extra>',
  };
}
