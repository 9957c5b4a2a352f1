import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** Panels that fit side by side. */
const PANELS = 4;

/** Arms that fit one below the other. */
const ROWS = 60;

export function start(state: App): void {
  const node = dom.getElement('differences-figure');
  app.watch(state, ['metric', 'filter'], () => drawDifferences(state, node));
  plot.redrawOnNewLook(() => drawDifferences(state, node));
}

/** The metrics that have a panel: as many as fit, the chosen one always. A narrow page has the chosen one alone. */
export function listPanelMetrics(count: number, chosen: number, room: number): number[] {
  if (room === 1) return [chosen];
  const first = Array.from({ length: Math.min(count, room) }, (_, metric) => metric);
  return first.includes(chosen) ? first : [...first.slice(0, -1), chosen];
}

/** A panel a metric; all of them share the rows of arms and the scale. */
function drawDifferences(state: App, node: HTMLElement): void {
  const { arms, baseline, metrics } = state.data;
  const narrow = plot.isNarrow();
  const panels = listPanelMetrics(metrics.length, state.choice.metric, narrow ? 1 : PANELS);
  const drawn = app.listDrawnArms(state, ROWS).filter((arm) => arm !== baseline);
  const ends = drawn.flatMap((arm) =>
    panels.flatMap((metric) => (arms[arm]?.differences[metric] ?? []).slice(0, 3).filter((end) => end !== null)),
  );
  const layout = {
    ...buildPanelAxes(state, panels, [Math.min(0, ...ends), Math.max(0, ...ends)]),
    ...plot.buildRowAxis(drawn.map((arm) => plot.formatRowName(arms[arm]?.name ?? ''))),
    hovermode: 'closest',
    shapes: panels.map((_, panel) => buildZeroLine(panel)),
  };
  const traces = panels.flatMap((metric, panel) =>
    drawn.map((arm, at) => buildDifferenceTrace(arms[arm] as ArmPayload, at, metric, panel, state.data.level)),
  );
  plot.draw(node, traces, (narrow ? 40 : 27) * drawn.length + 76, layout);
  const names = panels.map((metric) => metrics[metric]).join(', ');
  node.setAttribute(
    'aria-label',
    `differences of every arm from ${arms[baseline]?.name} in ${names}, with intervals; the same numbers are in the table`,
  );
  dom.getElement('differences-count').textContent = app.describeDrawnArms(state, app.listDrawnArms(state, ROWS));
}

/** The baseline of a panel. A grid line is there already, so a dotted line would not be seen. */
function buildZeroLine(panel: number): object {
  const line = { color: dom.readStyleValue('--ink'), width: 1 };
  return { ...plot.buildDottedRule(0), xref: formatAxisName('x', panel), line };
}

/** Plotly's names of axes: `x`, `x2`, `x3`. */
function formatAxisName(name: string, panel: number): string {
  return panel === 0 ? name : `${name}${panel + 1}`;
}

function buildPanelAxes(state: App, panels: readonly number[], [low, high]: readonly [number, number]): object {
  const { metrics } = state.data;
  const gap = 0.025;
  const width = (1 - gap * (panels.length - 1)) / panels.length;
  const slack = 0.06 * (high - low || 1);
  const axes = panels.map((metric, panel) => {
    const start = panel * (width + gap);
    const axis = plot.buildAxis('', {
      ...plot.buildRoundTicks(low, high, format.formatSigned, panels.length === 1 ? 5 : 3),
      range: [low - slack, high + slack],
      domain: [start, Math.min(1, start + width)],
      zeroline: false,
      title: { text: `<b>${plot.escapePlotlyText(metrics[metric] ?? '')}</b>`, standoff: 8, font: { size: 12.5 } },
    });
    return [formatAxisName('xaxis', panel), axis] as const;
  });
  return Object.fromEntries(axes);
}

export function buildDifferenceTrace(
  arm: ArmPayload,
  at: number,
  metric: number,
  panel: number,
  level: number,
): object {
  const figures = arm.differences[metric] ?? [];
  const [mean, p] = [figures[0] ?? 0, figures[3] ?? 1];
  const [low, high] = [figures[1] ?? null, figures[2] ?? null];
  const verdict = arm.verdicts[metric] ?? 'undecided';
  const color = dom.readStyleValue(`--${verdict}`);
  const gain = format.estimate({ mean, low, high }, format.formatSigned, 3);
  return {
    type: 'scatter',
    mode: 'markers',
    x: [mean],
    y: [at],
    xaxis: formatAxisName('x', panel),
    error_x: { ...plot.buildWhiskers(mean, low, high), color, thickness: 1.5, width: 0 },
    marker: { color, symbol: { better: 'triangle-up', worse: 'triangle-down', undecided: 'circle' }[verdict], size: 9 },
    text: [`${plot.escapePlotlyText(arm.name)}<br>${gain}, p ${format.formatProbability(p, 1 - level)}`],
    hovertemplate: '%{text}<extra></extra>',
  };
}
