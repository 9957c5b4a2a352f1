import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** One query's bar: the chosen arm minus the baseline. */
interface Bar {
  readonly query: number;
  readonly gain: number;
}

/** What Plotly makes of the element that it draws in. */
interface PlotlyElement extends HTMLElement {
  on(event: string, act: (event: unknown) => void): void;
}

export function start(state: App): void {
  const node = dom.getElement<PlotlyElement>('gains-figure');
  app.watch(state, ['metric', 'right', 'query'], () => drawGains(state, node));
  plot.redrawOnNewLook(() => drawGains(state, node));
}

function openClicked(state: App, event: unknown): void {
  const { points } = event as { readonly points: readonly { readonly customdata: number }[] };
  if (points[0] === undefined) return;
  app.choose(state, { query: points[0].customdata });
  dom.getElement('inspector').scrollIntoView();
}

/** Greatest gain first; where less is better, a gain is below 0. */
export function listGainBars(state: App): Bar[] {
  const { right } = state.choice;
  const { queries, baseline } = state.data;
  const bars = queries.map((_, query) => ({
    query,
    gain: app.getQueryValue(state, right, query) - app.getQueryValue(state, baseline, query),
  }));
  const sign = app.readSign(state);
  return bars.sort((a, b) => sign * (b.gain - a.gain));
}

function drawGains(state: App, node: PlotlyElement): void {
  const { arms, baseline, metrics } = state.data;
  const { right, metric } = state.choice;
  const bars = listGainBars(state);
  const opened = bars.findIndex(({ query }) => query === state.choice.query);
  const [low, high] = [bars.at(-1)?.gain ?? 0, bars[0]?.gain ?? 0].sort((a, b) => a - b) as [number, number];
  const layout = {
    xaxis: plot.buildAxis('queries, greatest gain first', { zeroline: false, showgrid: false }),
    yaxis: plot.buildAxis('', plot.buildRoundTicks(low, high, format.formatSigned)),
    hovermode: 'x',
    bargap: bars.length > 150 ? 0 : 0.15,
    shapes: opened < 0 ? [] : [plot.buildDottedRule(opened + 1)],
  };
  plot.draw(node, [buildBarTrace(state, bars)], 300, layout, () =>
    node.on('plotly_click', (event) => openClicked(state, event)),
  );
  const title = `${metrics[metric]}: ${arms[right]?.name} minus ${arms[baseline]?.name}`;
  node.setAttribute('aria-label', `${title}, a bar a query; the list of the inspector holds the same numbers`);
  dom.getElement('gains-summary').textContent = `${title}. ${describeGains(bars, app.readSign(state))}`;
}

export function buildBarTrace(state: App, bars: readonly Bar[]): object {
  const [better, worse] = [dom.readStyleValue('--better'), dom.readStyleValue('--worse')];
  const sign = app.readSign(state);
  const formatQueryExcerpt = (query: number) =>
    plot.escapePlotlyText(state.data.queries[query]?.text.slice(0, 60) ?? '');
  return {
    type: 'bar',
    x: bars.map((_, tick) => tick + 1),
    y: bars.map(({ gain }) => gain),
    customdata: bars.map(({ query }) => query),
    text: bars.map(({ gain, query }) => `${format.formatSigned(gain, 3)}  ${formatQueryExcerpt(query)}`),
    textposition: 'none',
    hovertemplate: '%{text}<extra></extra>',
    marker: { color: bars.map(({ gain }) => (sign * gain > 0 ? better : worse)), line: { width: 0 } },
  };
}

/** @param sign -1 where less is better. */
export function describeGains(bars: readonly Bar[], sign = 1): string {
  const up = bars.filter(({ gain }) => sign * gain > 0).length;
  const down = bars.filter(({ gain }) => sign * gain < 0).length;
  const mean = bars.reduce((sum, { gain }) => sum + gain, 0) / Math.max(bars.length, 1);
  return `${up} queries gain, ${down} lose, ${bars.length - up - down} stay; mean ${format.formatSigned(mean, 3)}.`;
}
