import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as heatMap from './heat-map.ts';
import * as plot from './plot.ts';
import type { Point } from './sweep.ts';
import * as sweep from './sweep.ts';

/** A line of points: a level of the factor by, or all arms. */
interface Series {
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

/** The levels of the factor across on the axis: side by side or, where numbers were drawn, each at its number. */
function placesOf({ data: { factors, drawn }, choice }: App): number[] {
  const { levels = [], numeric = false } = factors[choice.across] ?? {};
  return levels.map((level, at) => (drawn && numeric ? Number(level) : at));
}

/** A line joins points if it is meaningful: between numbers, and between the levels of crossed factors; not between arms drawn at random. */
export function isConnected({ data: { factors, drawn }, choice: { across, by } }: App): boolean {
  return !drawn && (by >= 0 || (factors[across]?.numeric ?? false));
}

export function levelAxis(state: App): object {
  const { name = '', levels = [], numeric = false } = state.data.factors[state.choice.across] ?? {};
  const places = placesOf(state);
  if (!state.data.drawn || !numeric)
    return plot.axis(name, { ...plot.named(levels), showgrid: false, range: [-0.4, levels.length - 0.6] });
  const write = (place: number, digits: number) =>
    Number.isInteger(place) ? `${place}` : format.decimal(place, digits);
  return plot.axis(name, { ...plot.ticks(Math.min(...places), Math.max(...places), write), zeroline: false });
}

/** The mean of the arm that a sweep started from, which levels changed one at a time or drawn at random are seen against; null where there is none. */
export function startMean({ data: { arms, crossed, start }, choice: { metric } }: App): number | null {
  return crossed ? null : (arms[start]?.intervals[metric]?.[0] ?? null);
}

function drawPlot(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const { across, by, metric } = state.choice;
  const series = seriesOf(state);
  const reference = startMean(state);
  const bounds = series.flatMap(({ points }) =>
    points.flatMap((point) => (point === null ? [] : [point.low ?? point.mean, point.high ?? point.mean])),
  );
  if (reference !== null) bounds.push(reference);
  const layout = {
    xaxis: levelAxis(state),
    yaxis: plot.axis(metrics[metric] ?? '', {
      ...(bounds.length === 0 ? {} : plot.ticks(Math.min(...bounds), Math.max(...bounds), format.decimal)),
      zeroline: false,
    }),
    hovermode: 'closest',
    showlegend: by >= 0,
    ...(by < 0 ? {} : plot.legendAbove(factors[by]?.name)),
    ...(reference === null ? {} : plot.namedLevel(reference, state.data.arms[state.data.start]?.name ?? '')),
  };
  const traces = series.map((one, at) => seriesTrace(state, one, at, series.length));
  plot.draw(node, traces, 380, layout);
  const lines = by < 0 ? '' : `, a line for each level of ${factors[by]?.name}`;
  node.setAttribute('aria-label', `${metrics[metric]} by ${factors[across]?.name}${lines}, with intervals`);
}

/** Series are shifted a little, so that their whiskers do not hide one another. */
export function seriesTrace(state: App, { name, points }: Series, at: number, count: number): object {
  const color = plot.seriesColour(at);
  const beside = count < 2 ? 0 : (at / (count - 1) - 0.5) * Math.min(0.3, 0.06 * (count - 1));
  const whiskers = {
    type: 'data',
    symmetric: false,
    array: points.map((point) => (point === null || point.high === null ? null : point.high - point.mean)),
    arrayminus: points.map((point) => (point === null || point.low === null ? null : point.mean - point.low)),
  };
  return {
    type: 'scatter',
    mode: isConnected(state) ? 'lines+markers' : 'markers',
    name: plot.plainText(name),
    x: placesOf(state).map((place) => place + beside),
    y: points.map((point) => point?.mean ?? null),
    connectgaps: true,
    error_y: { ...whiskers, color, thickness: 1.2, width: 3 },
    line: { color, width: 2, dash: at < 8 ? 'solid' : 'dot' },
    marker: { color, size: 7 },
    text: points.map((point) => (point === null ? '' : heatMap.hoverText(state, point))),
    hovertemplate: '%{text}<extra></extra>',
  };
}
