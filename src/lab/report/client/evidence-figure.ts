import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** Lines in the figure: as many as there are colours. */
const MOST_LINES = 8;
/** How far whiskers of neighbouring lines stand from each other, as a factor on the axis of tokens. */
const STEP = 1.022;

export function start(state: App): void {
  const node = dom.getElement('evidence-figure');
  app.watch(state, ['metric', 'right', 'filter'], () => drawCurves(state, node));
  plot.redrawOnNewLook(() => drawCurves(state, node));
}

/** A line an arm over the logarithm of tokens, with whiskers, and the ceiling of the chosen arm. */
function drawCurves(state: App, node: HTMLElement): void {
  const { arms, budgets } = state.data;
  const { right } = state.choice;
  const drawn = app.listDrawnArms(state, MOST_LINES).filter((arm) => arms[arm]?.evidence != null);
  const ends = drawn.flatMap((arm) => (arms[arm]?.evidence?.recall ?? []).map(([mean, low]) => low ?? mean));
  const layout = {
    xaxis: plot.buildAxis('tokens', { type: 'log', tickvals: budgets, ticktext: budgets.map(String) }),
    yaxis: plot.buildAxis('evidence', plot.buildRoundTicks(Math.min(...ends, 1), 1, format.formatDecimal)),
    hovermode: 'closest',
    showlegend: true,
    ...plot.buildLegendAbove(),
  };
  const lines = drawn.map((arm, at) => buildCurveTrace(arms[arm] as ArmPayload, budgets, at, drawn.length));
  const chosen = arms[right];
  const ceiling = chosen?.evidence == null ? [] : [buildCeilingTrace(chosen, budgets)];
  plot.draw(node, [...lines, ...ceiling], plot.isNarrow() ? 480 : 520, layout);
  node.setAttribute('aria-label', 'evidence by tokens, a line per arm with intervals; the figures are below');
  dom.getElement('evidence-count').textContent = app.describeDrawnArms(state, drawn);
}

export function buildCurveTrace({ name, evidence }: ArmPayload, budgets: readonly number[], at: number, of: number) {
  const points = evidence?.recall ?? [];
  const color = plot.readSeriesColour(at);
  const shift = STEP ** (at - (of - 1) / 2);
  const label = plot.escapePlotlyText(name);
  const ends = points.map(([mean, low, high]) => ({ below: mean - (low ?? mean), above: (high ?? mean) - mean }));
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name: plot.formatRowName(name),
    x: budgets.map((budget) => budget * shift),
    y: points.map(([mean]) => mean),
    error_y: {
      type: 'data',
      symmetric: false,
      array: ends.map(({ above }) => above),
      arrayminus: ends.map(({ below }) => below),
      color,
      thickness: 1.2,
      width: 2,
    },
    line: { color, width: 1.8 },
    marker: { color, size: 6 },
    text: points.map(
      ([mean, low, high], k) =>
        `${label}<br>${budgets[k]} tokens: ${format.estimate({ mean, low, high }, format.formatDecimal, 2)}`,
    ),
    hovertemplate: '%{text}<extra></extra>',
  };
}

export function buildCeilingTrace({ name, evidence }: ArmPayload, budgets: readonly number[]) {
  const points = evidence?.ceiling ?? [];
  const label = `ceiling of ${plot.formatRowName(name)}`;
  return {
    type: 'scatter',
    mode: 'lines',
    name: label,
    x: budgets,
    y: points.map(([mean]) => mean),
    line: { color: dom.readStyleValue('--ink'), width: 1.2, dash: 'dot' },
    text: points.map(([mean], k) => `${label}<br>${budgets[k]} tokens: ${format.formatDecimal(mean, 3)}`),
    hovertemplate: '%{text}<extra></extra>',
  };
}
