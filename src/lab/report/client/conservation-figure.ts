import type { ConservationPayload } from '../page/arm-payload.ts';
import type { QueryPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** The panels from above, and the part of the height that each takes. */
const PANELS = [
  { figure: 'coherence', axis: 'y', domain: [0.7, 1] },
  { figure: 'magnitude', axis: 'y2', domain: [0.35, 0.65] },
  { figure: 'information', axis: 'y3', domain: [0, 0.3] },
] as const;

/** Queries of the time line that a line averages, as a share of all. */
const SMOOTHED = 1 / 40;

export function start(state: App): void {
  const node = dom.getElement('conservation-figure');
  app.watch(state, ['right'], () => drawConservation(state, node));
  plot.redrawOnNewLook(() => drawConservation(state, node));
}

/** The positions of the queries in time order; queries of one moment keep their order. */
export function orderByTime(queries: readonly QueryPayload[]): number[] {
  return Array.from(queries.keys()).sort((a, b) => queries[a]!.timestamp - queries[b]!.timestamp || a - b);
}

/** The mean of each value and its neighbours on both sides; fewer at the ends. @param width odd */
export function smooth(values: readonly number[], width: number): number[] {
  const reach = (width - 1) / 2;
  return values.map((_, at) => {
    const near = values.slice(Math.max(0, at - reach), at + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}

/** Three panels over the queries in time order, a line a set of turns: the drift of the memory, and what was shown. */
function drawConservation(state: App, node: HTMLElement): void {
  const { arms, queries } = state.data;
  const arm = arms[state.choice.right];
  const measured = arm?.conservation ?? null;
  const width = 2 * Math.round((queries.length * SMOOTHED) / 2) + 1;
  const note =
    measured === null
      ? `${arm?.name} was not measured.`
      : `Queries in the order of their moments. A line is the mean of ${width} neighbouring queries.`;
  dom.getElement('conservation-note').textContent = note;
  const axes = PANELS.map(({ figure, domain }, at) => {
    const high = (measured?.[figure] ?? []).flat().reduce((most, value) => Math.max(most, value), 1e-3);
    const ticks = plot.buildRoundTicks(0, high, format.formatDecimal, 4);
    const axis = plot.buildAxis(figure, { ...ticks, domain, rangemode: 'tozero', zeroline: false });
    return [at === 0 ? 'yaxis' : `yaxis${at + 1}`, axis] as const;
  });
  const layout = {
    xaxis: plot.buildAxis('queries in time order', { anchor: 'y3', zeroline: false }),
    ...Object.fromEntries(axes),
    hovermode: 'closest',
    showlegend: true,
    ...plot.buildLegendAbove(),
  };
  plot.draw(node, measured === null ? [] : buildSetTraces(measured, queries, width), 620, layout);
  node.setAttribute('aria-label', `conservation of what queries are shown by ${arm?.name}; all figures are below`);
}

/**
 * A line a set and panel; that of the context is dashed, since it may be that of the first ranks.
 *
 * @param width of the mean over neighbouring queries.
 */
export function buildSetTraces(measured: ConservationPayload, queries: readonly QueryPayload[], width: number) {
  const order = orderByTime(queries);
  return PANELS.flatMap(({ figure, axis }, panel) =>
    measured.sets.map((set, at) => {
      const values = order.map((query) => measured[figure][at]?.[query] ?? 0);
      const isMemory = set === 'memory';
      return {
        type: 'scatter',
        mode: 'lines',
        name: set,
        legendgroup: set,
        showlegend: panel === 0,
        yaxis: axis,
        x: order.map((_, place) => place + 1),
        y: smooth(values, width),
        text: order.map((query, place) => {
          const { id = '', timestamp = 0 } = queries[query] ?? {};
          const value = format.formatDecimal(values[place] as number, 3);
          return `${set}, ${figure} ${value}<br>${plot.escapePlotlyText(id)}, ${format.formatMinute(timestamp)}`;
        }),
        hovertemplate: '%{text}<extra></extra>',
        line: isMemory
          ? { color: dom.readStyleValue('--ink'), width: 1.4, dash: 'dot' }
          : { color: plot.readSeriesColour(at - 1), width: 1.8, dash: set === 'context' ? 'dash' : 'solid' },
      };
    }),
  );
}
