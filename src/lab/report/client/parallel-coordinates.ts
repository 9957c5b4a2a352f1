import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** An arm as a line: its height on each axis, from 0 to 1, factors first and the metric last. */
interface Line {
  readonly arm: number;
  readonly heights: readonly number[];
}

export function start(state: App): void {
  const node = dom.getElement('parallel-coordinates');
  app.watch(state, ['metric', 'filter'], () => drawLines(state, node));
  plot.redrawOnNewLook(() => drawLines(state, node));
}

/** The shown arms of the sweep, the best by the metric last, so that it is drawn on top. Within a level, lines are spread in that order. */
export function listArmLines(state: App): Line[] {
  const { arms, factors } = state.data;
  const readArmValue = (arm: number) => arms[arm]?.intervals[state.choice.metric]?.[0] ?? 0;
  const complete = app
    .listShownArms(state)
    .filter((arm) => (arms[arm]?.levels.length ?? 0) > 0 && arms[arm]?.levels.every((level) => level >= 0))
    .sort((a, b) => readArmValue(a) - readArmValue(b));
  const [low, high] = [readArmValue(complete[0] ?? -1), readArmValue(complete.at(-1) ?? -1)];
  return complete.map((arm, rank) => {
    const spread = complete.length < 2 ? 0.5 : 0.2 + (0.6 * rank) / (complete.length - 1);
    const ticks = factors.map(({ levels }, factor) => ((arms[arm]?.levels[factor] ?? 0) + spread) / levels.length);
    return { arm, heights: [...ticks, high === low ? 0.5 : (readArmValue(arm) - low) / (high - low)] };
  });
}

function drawLines(state: App, node: HTMLElement): void {
  const { factors, metrics } = state.data;
  const lines = listArmLines(state);
  dom.getElement('sweep-lines').hidden = lines.length === 0; // arms that vary one factor at a time have no place on the others
  const titles = [...factors.map(({ name }) => name), metrics[state.choice.metric] ?? ''];
  const layout = {
    xaxis: plot.buildAxis('', {
      showticklabels: false,
      showgrid: false,
      zeroline: false,
      range: [-0.15, titles.length - 1 + 0.35],
    }),
    margin: { l: 8, r: 12, t: 56, b: 20 },
    yaxis: { visible: false, range: [-0.03, 1.03], fixedrange: true },
    hovermode: 'closest',
    shapes: titles.map((_, at) => plot.buildDottedRule(at)),
    annotations: [...buildAxisTitles(titles), ...buildLevelLabels(state), ...buildMetricLabels(state, lines)],
  };
  plot.draw(
    node,
    lines.map((line) => buildLineTrace(state, line)),
    420,
    layout,
  );
  node.setAttribute(
    'aria-label',
    `arms of the sweep as lines over ${titles.join(', ')}; the table holds the same numbers`,
  );
}

function buildLineTrace(state: App, { arm, heights }: Line): object {
  const share = heights.at(-1) ?? 0;
  const color = plot.mixColours(dom.readStyleValue('--faint'), dom.readStyleValue('--better'), share);
  const { name, intervals } = state.data.arms[arm] as App['data']['arms'][number];
  const figure = format.formatDecimal(intervals[state.choice.metric]?.[0] ?? 0, 3);
  return {
    type: 'scatter',
    mode: 'lines',
    x: heights.map((_, at) => at),
    y: heights,
    line: { color, width: 1 + 1.5 * share, shape: 'spline', smoothing: 0.6 },
    text: heights.map(() => `${plot.escapePlotlyText(name)}<br>${figure}`),
    hovertemplate: '%{text}<extra></extra>',
  };
}

/** Names above the axes, the first and the last within the figure; if it is narrow, on two lines in turn. */
export function buildAxisTitles(titles: readonly string[]): object[] {
  const turns = plot.isNarrow() && titles.length > 2;
  return titles.map((title, at) => ({
    x: at,
    xanchor: at === 0 ? 'left' : at === titles.length - 1 ? 'right' : 'center',
    xshift: at === 0 ? -6 : at === titles.length - 1 ? 6 : 0,
    y: 1,
    yref: 'paper',
    yanchor: 'bottom',
    yshift: turns && at % 2 === 1 ? 24 : 6,
    text: plot.escapePlotlyText(plot.shortenMiddle(title, 24)),
    showarrow: false,
    font: { size: 12.5, color: dom.readStyleValue('--ink') },
  }));
}

/** The levels beside their axis, at most twelve of them. */
function buildLevelLabels({ data: { factors } }: App): object[] {
  return factors.flatMap(({ levels }, factor) => {
    const step = Math.ceil(levels.length / 12);
    return levels.flatMap((level, at) =>
      at % step === 0
        ? [buildLabelAt(factor, (at + 0.5) / levels.length, level.length > 18 ? `${level.slice(0, 17)}…` : level)]
        : [],
    );
  });
}

/** The least and the greatest value on the last axis. */
function buildMetricLabels({ data, choice }: App, lines: readonly Line[]): object[] {
  const formatLineValue = (line: Line | undefined) =>
    format.formatDecimal(data.arms[line?.arm ?? -1]?.intervals[choice.metric]?.[0] ?? 0, 3);
  if (lines.length === 0) return [];
  return [
    buildLabelAt(data.factors.length, 0, formatLineValue(lines[0])),
    buildLabelAt(data.factors.length, 1, formatLineValue(lines.at(-1))),
  ];
}

function buildLabelAt(x: number, y: number, text: string): object {
  return {
    x,
    y,
    text: plot.escapePlotlyText(text),
    showarrow: false,
    xanchor: 'left',
    xshift: 5,
    font: { size: 12, color: dom.readStyleValue('--ink') },
    bgcolor: dom.readStyleValue('--paper'),
    opacity: 0.9,
  };
}
