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
  const node = dom.getElement('interaction-plot');
  app.watch(state, ['metric', 'across', 'by', 'held', 'filter'], () => drawPlot(state, node));
  plot.redrawOnNewLook(() => drawPlot(state, node));
}

export function listSeries(state: App): Series[] {
  const { factors } = state.data;
  const { across, by } = state.choice;
  const columns = factors[across]?.levels ?? [];
  const levels = by < 0 ? [''] : (factors[by]?.levels ?? []);
  return levels.map((name, level) => ({
    name,
    points: columns.map((_, column) =>
      sweep.computeSweepPoint(state, sweep.listArmsAt(state, column, by < 0 ? -1 : level)),
    ),
  }));
}

/** The levels of the factor across on the axis: side by side or, where numbers were drawn, each at its number. */
function computeLevelOffsets({ data: { factors, drawn }, choice }: App): number[] {
  const { levels = [], numeric = false } = factors[choice.across] ?? {};
  return levels.map((level, at) => (drawn && numeric ? Number(level) : at));
}

/** A line joins points if it is meaningful: between numbers, and between the levels of crossed factors; not between arms drawn at random. */
function isConnected({ data: { factors, drawn }, choice: { across, by } }: App): boolean {
  return !drawn && (by >= 0 || (factors[across]?.numeric ?? false));
}

export function buildLevelAxis(state: App): object {
  const { name = '', levels = [], numeric = false } = state.data.factors[state.choice.across] ?? {};
  const tickValues = computeLevelOffsets(state);
  if (!state.data.drawn || !numeric)
    return plot.buildAxis(name, {
      ...plot.buildNamedTicks(levels),
      showgrid: false,
      range: [-0.4, levels.length - 0.6],
    });
  const write = (tickValue: number, digits: number) =>
    Number.isInteger(tickValue) ? `${tickValue}` : format.formatDecimal(tickValue, digits);
  return plot.buildAxis(name, {
    ...plot.buildRoundTicks(Math.min(...tickValues), Math.max(...tickValues), write),
    zeroline: false,
  });
}

/** The mean of the arm that a sweep started from, which levels changed one at a time or drawn at random are seen against; null where there is none. */
export function startMean({ data: { arms, crossed, start }, choice: { metric } }: App): number | null {
  return crossed ? null : (arms[start]?.intervals[metric]?.[0] ?? null);
}

function drawPlot(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const { across, by, metric } = state.choice;
  const series = listSeries(state);
  const reference = startMean(state);
  const bounds = series.flatMap(({ points }) =>
    points.flatMap((point) => (point === null ? [] : [point.low ?? point.mean, point.high ?? point.mean])),
  );
  if (reference !== null) bounds.push(reference);
  const layout = {
    xaxis: buildLevelAxis(state),
    yaxis: plot.buildAxis(metrics[metric] ?? '', {
      ...(bounds.length === 0
        ? {}
        : plot.buildRoundTicks(Math.min(...bounds), Math.max(...bounds), format.formatDecimal)),
      zeroline: false,
    }),
    hovermode: 'closest',
    showlegend: by >= 0,
    ...(by < 0 ? {} : plot.buildLegendAbove(factors[by]?.name)),
    ...(reference === null ? {} : plot.buildNamedLevel(reference, state.data.arms[state.data.start]?.name ?? '')),
  };
  const traces = series.map((one, at) => buildSeriesTrace(state, one, at, series.length));
  plot.draw(node, traces, 380, layout);
  const lines = by < 0 ? '' : `, a line for each level of ${factors[by]?.name}`;
  node.setAttribute('aria-label', `${metrics[metric]} by ${factors[across]?.name}${lines}, with intervals`);
}

/** Series are shifted a little, so that their whiskers do not hide one another. */
export function buildSeriesTrace(state: App, { name, points }: Series, at: number, count: number): object {
  const color = plot.readSeriesColour(at);
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
    name: plot.escapePlotlyText(name),
    x: computeLevelOffsets(state).map((tickValue) => tickValue + beside),
    y: points.map((point) => point?.mean ?? null),
    connectgaps: true,
    error_y: { ...whiskers, color, thickness: 1.2, width: 3 },
    line: { color, width: 2, dash: at < 8 ? 'solid' : 'dot' },
    marker: { color, size: 7 },
    text: points.map((point) => (point === null ? '' : heatMap.formatHoverText(state, point))),
    hovertemplate: '%{text}<extra></extra>',
  };
}
