import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as armsFigure from './arms-figure.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

export function start(state: App): void {
  const node = dom.getElement('attribution-figure');
  app.watch(state, ['metric', 'filter'], () => drawFates(state, node));
  plot.redrawOnNewLook(() => drawFates(state, node));
}

/** A bar per arm, stacked by the fate of the relevant turns. */
function drawFates(state: App, node: HTMLElement): void {
  const { arms, fates } = state.data;
  const drawn = app.listDrawnArms(state, 60).filter((arm) => arms[arm]?.fates.some((count) => count > 0));
  const narrow = plot.isNarrow();
  const layout = {
    barmode: 'stack',
    bargap: narrow ? 0.65 : 0.25,
    xaxis: plot.buildAxis('share of the relevant turns', {
      ...plot.buildRoundTicks(0, 1, format.formatDecimal),
      range: [0, 1],
    }),
    ...plot.buildRowAxis(armsFigure.formatArmNames(state, drawn)),
    hovermode: 'closest',
    showlegend: true,
    ...plot.buildLegendAbove(),
  };
  const traces = fates.map((_, fate) => buildFateTrace(state, drawn, fate));
  plot.draw(node, traces, (narrow ? 44 : 29) * drawn.length + 110, layout);
  node.setAttribute('aria-label', `fate of the relevant turns, a bar per arm; the counts are below`);
  dom.getElement('attribution-count').textContent = app.describeDrawnArms(state, drawn);
}

export function buildFateTrace({ data: { arms, fates } }: App, drawn: readonly number[], fate: number): object {
  const counts = drawn.map((arm) => arms[arm]?.fates[fate] ?? 0);
  const totals = drawn.map((arm) => arms[arm]?.fates.reduce((sum, count) => sum + count, 0) || 1);
  const name = format.formatFate(fates[fate] ?? '');
  const kept = name === 'kept';
  return {
    type: 'bar',
    orientation: 'h',
    name: plot.escapePlotlyText(kept ? name : `lost: ${name}`),
    x: counts.map((count, at) => count / (totals[at] ?? 1)),
    y: drawn.map((_, at) => at),
    marker: {
      color: kept ? dom.readStyleValue('--grade') : dom.readStyleValue(`--series-${fate % 8}`),
      line: { width: 0 },
    },
    text: counts.map(
      (count, at) =>
        `${plot.escapePlotlyText(arms[drawn[at] ?? -1]?.name ?? '')}<br>${name}: ${count} of ${totals[at]}`,
    ),
    textposition: 'none',
    hovertemplate: '%{text}<extra></extra>',
  };
}
