import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

export function start(state: App): void {
  const node = dom.getElement('latency-figure');
  app.watch(state, ['right'], () => drawLatency(state, node));
  plot.redrawOnNewLook(() => drawLatency(state, node));
}

/** Components of the chosen arm and of the baseline, those of the chosen one first; the final component of every arm is last. */
export function listComponents({ data, choice }: App): string[] {
  const names = [choice.right, data.baseline].flatMap((arm) => Object.keys(data.arms[arm]?.latency ?? {}));
  const last = names.slice(-2);
  return [...new Set(names.filter((name) => !last.includes(name))), ...last];
}

/** A line a component: median, p95 and p99, on a logarithmic axis, since components differ by orders of magnitude. */
function drawLatency(state: App, node: HTMLElement): void {
  const { arms, baseline } = state.data;
  const { right } = state.choice;
  const components = listComponents(state);
  const narrow = plot.isNarrow();
  const layout = {
    xaxis: plot.buildAxis('milliseconds a query', { type: 'log', dtick: 1, exponentformat: 'none' }),
    ...plot.buildRowAxis(components.map(plot.escapePlotlyText)),
    hovermode: 'closest',
    showlegend: right !== baseline,
    ...plot.buildLegendAbove(),
  };
  const drawn = right === baseline || baseline < 0 ? [right] : [baseline, right];
  const traces = drawn.flatMap((arm) => buildLatencyTraces(state, arm, components));
  plot.draw(node, traces, (narrow ? 48 : 36) * components.length + 100, layout);
  const timed = arms[right]?.latency != null;
  dom.getElement('latency-note').textContent = timed ? '' : `${arms[right]?.name} was not timed.`;
  node.setAttribute('aria-label', `latency of ${arms[right]?.name} by component; all figures stand below`);
}

export function buildLatencyTraces(state: App, arm: number, components: readonly string[]): object[] {
  const { arms, baseline } = state.data;
  const isBaseline = arm === baseline;
  const color = dom.readStyleValue(isBaseline ? '--undecided' : '--better');
  const beside = isBaseline && state.choice.right !== baseline ? 0.16 : 0;
  const timed = components.flatMap((component, at) => {
    const [p50, p95, p99] = arms[arm]?.latency?.[component] ?? [];
    return p50 === undefined || p95 === undefined || p99 === undefined ? [] : [{ component, at, p50, p95, p99 }];
  });
  const name = plot.escapePlotlyText(arms[arm]?.name ?? '');
  const text = timed.map(
    ({ component, p50, p95, p99 }) =>
      `${name}<br>${plot.escapePlotlyText(component)}: p50 ${format.formatSignificant(p50)}, p95 ${format.formatSignificant(p95)}, p99 ${format.formatSignificant(p99)} ms`,
  );
  const y = timed.map(({ at }) => at + beside);
  const common = {
    type: 'scatter',
    mode: 'markers',
    y,
    text,
    hovertemplate: '%{text}<extra></extra>',
    name,
    legendgroup: name,
  };
  const whiskers = { type: 'data', symmetric: false, arrayminus: timed.map(() => 0), color, thickness: 2, width: 5 };
  return [
    {
      ...common,
      x: timed.map(({ p50 }) => p50),
      error_x: { ...whiskers, array: timed.map(({ p50, p95 }) => p95 - p50) },
      marker: { color, symbol: 'circle', size: 9 },
    },
    {
      ...common,
      x: timed.map(({ p99 }) => p99),
      marker: { color, symbol: 'diamond-open', size: 9 },
      showlegend: false,
    },
  ];
}
