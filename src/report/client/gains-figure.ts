import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** One query's bar: the chosen arm minus the baseline. */
export interface Bar {
  readonly query: number;
  readonly gain: number;
}

/** What Plotly makes of the element that it draws in. */
interface PlotlyElement extends HTMLElement {
  on(event: string, act: (event: unknown) => void): void;
}

export function start(state: App): void {
  const node = dom.byId<PlotlyElement>('gains-figure');
  app.watch(state, ['metric', 'right', 'query'], () => drawGains(state, node));
  plot.onNewLook(() => drawGains(state, node));
}

function openClicked(state: App, event: unknown): void {
  const { points } = event as { readonly points: readonly { readonly customdata: number }[] };
  if (points[0] === undefined) return;
  app.choose(state, { query: points[0].customdata });
  dom.byId('inspector').scrollIntoView();
}

/** Greatest gain first. */
export function barsOf(state: App): Bar[] {
  const { right } = state.choice;
  const { queries, baseline } = state.data;
  const bars = queries.map((_, query) => ({
    query,
    gain: app.valueAt(state, right, query) - app.valueAt(state, baseline, query),
  }));
  return bars.sort((a, b) => b.gain - a.gain);
}

function drawGains(state: App, node: PlotlyElement): void {
  const { arms, baseline, metrics } = state.data;
  const { right, metric } = state.choice;
  const bars = barsOf(state);
  const opened = bars.findIndex(({ query }) => query === state.choice.query);
  const layout = {
    xaxis: plot.axis('queries, greatest gain first', { zeroline: false, showgrid: false }),
    yaxis: plot.axis('', plot.ticks(bars.at(-1)?.gain ?? 0, bars[0]?.gain ?? 0, format.signed)),
    hovermode: 'x',
    bargap: bars.length > 150 ? 0 : 0.15,
    shapes: opened < 0 ? [] : [plot.verticalRule(opened + 1)],
  };
  plot.draw(node, [barTrace(state, bars)], 300, layout, () =>
    node.on('plotly_click', (event) => openClicked(state, event)),
  );
  const title = `${metrics[metric]}: ${arms[right]?.name} minus ${arms[baseline]?.name}`;
  node.setAttribute('aria-label', `${title}, a bar a query; the list of the inspector holds the same numbers`);
  dom.byId('gains-summary').textContent = `${title}. ${summary(bars)}`;
}

export function barTrace(state: App, bars: readonly Bar[]): object {
  const [better, worse] = [dom.styleValue('--better'), dom.styleValue('--worse')];
  const excerpt = (query: number) => plot.plainText(state.data.queries[query]?.text.slice(0, 60) ?? '');
  return {
    type: 'bar',
    x: bars.map((_, place) => place + 1),
    y: bars.map(({ gain }) => gain),
    customdata: bars.map(({ query }) => query),
    text: bars.map(({ gain, query }) => `${format.signed(gain, 3)}  ${excerpt(query)}`),
    textposition: 'none',
    hovertemplate: '%{text}<extra></extra>',
    marker: { color: bars.map(({ gain }) => (gain > 0 ? better : worse)), line: { width: 0 } },
  };
}

export function summary(bars: readonly Bar[]): string {
  const up = bars.filter(({ gain }) => gain > 0).length;
  const down = bars.filter(({ gain }) => gain < 0).length;
  const mean = bars.reduce((sum, { gain }) => sum + gain, 0) / Math.max(bars.length, 1);
  return `${up} queries gain, ${down} lose, ${bars.length - up - down} stay; mean ${format.signed(mean, 3)}.`;
}
