import { escapePlotlyText } from '../../src/lab/report/client/plot.ts';
import { COLOURS, type PlotlyFigure } from '../figure-page.ts';
import type { DriftResult } from './experiment.ts';
import { findQuietSpans, type QuietSpan } from './quiet-spans.ts';
import type { DailySample } from './replay.ts';

const [INK, QUIET, RULE, PAPER, ...LINES] = Object.keys(COLOURS) as [string, string, string, string, ...string[]];

interface Panel {
  readonly title: string;
  /** The second scale of the same curve, at the right: its title, and how much of it one unit of the first is. */
  readonly second: { readonly title: string; readonly factor: number } | null;
  readonly read: (sample: DailySample) => number | null;
  readonly hover: (sample: DailySample) => string;
  readonly scale: 'linear' | 'log';
  /** Least range of the scale. */
  readonly atLeast: readonly [number, number];
}

/** A memory without messages has no magnitude, energy or information: the line breaks off. */
const readIfHeld = (read: (sample: DailySample) => number) => (sample: DailySample) =>
  sample.count === 0 ? null : read(sample);

const PANELS: readonly Panel[] = [
  {
    title: 'messages held',
    second: null,
    read: ({ count }) => count,
    hover: ({ count }) => `${count} messages`,
    scale: 'linear',
    atLeast: [0, 1],
  },
  {
    title: 'magnitude M',
    second: null,
    read: readIfHeld(({ magnitude }) => magnitude),
    hover: ({ magnitude }) => `M ${magnitude.toFixed(4)}`,
    scale: 'linear',
    atLeast: [0.94, 1.06],
  },
  {
    title: 'energy E',
    second: { title: 'coherence 2E', factor: 2 },
    read: readIfHeld(({ energy }) => energy),
    hover: ({ energy, coherence }) => `E ${energy.toFixed(4)}, coherence ${coherence.toFixed(4)}`,
    scale: 'log',
    atLeast: [0.01, 0.5],
  },
  {
    title: 'information I, nats',
    second: { title: 'bits', factor: 1 / Math.LN2 },
    read: readIfHeld(({ information }) => information),
    hover: ({ information, informationBits }) => `I ${information.toFixed(3)} nats, ${informationBits.toFixed(2)} bits`,
    scale: 'linear',
    atLeast: [0, 1],
  },
];
const GAP = 0.035;
const LOG_TICKS = { tickmode: 'array', tickvals: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1] };
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** From the lower end to the upper end of a panel's place, the first panel on top. */
function computePanelDomain(panel: number): [number, number] {
  const height = (1 - GAP * (PANELS.length - 1)) / PANELS.length;
  const top = 1 - panel * (height + GAP);
  return [Math.max(0, top - height), top];
}

function formatAxisName(letter: 'x' | 'y', number: number): string {
  return number === 1 ? letter : `${letter}${number}`;
}

const formatLayoutKey = (number: number) => (number === 1 ? 'yaxis' : `yaxis${number}`);
const numberSecondAxis = (panel: number) => PANELS.length + panel + 1;

/** In the units of the scale, powers of ten for a logarithmic one, with a little room at both ends. */
function computePanelRange({ policies }: DriftResult, { read, scale, atLeast }: Panel): [number, number] {
  const values = policies.flatMap(({ samples }) => samples.flatMap((sample) => read(sample) ?? []));
  const shown = [...atLeast, ...values]
    .filter((value) => scale === 'linear' || value > 0)
    .map((value) => (scale === 'log' ? Math.log10(value) : value));
  const [low, high] = [shown.reduce((a, b) => Math.min(a, b)), shown.reduce((a, b) => Math.max(a, b))];
  const room = 0.04 * (high - low);
  return [low - room, high + room];
}

/** The range of the second scale, whose values are `factor` times those of the first. */
function computeSecondRange(range: readonly number[], scale: Panel['scale'], factor: number): number[] {
  return range.map((value) => (scale === 'log' ? value + Math.log10(factor) : value * factor));
}

function buildPolicyTraces({ policies }: DriftResult): object[] {
  return PANELS.flatMap(({ read, hover }, panel) =>
    policies.map(({ name, samples }, policy) => ({
      type: 'scatter',
      mode: 'lines',
      name: escapePlotlyText(name),
      legendgroup: name,
      showlegend: panel === 0,
      x: samples.map(({ time }) => new Date(time).toISOString()),
      y: samples.map(read),
      text: samples.map(hover),
      hovertemplate: `%{text}<extra>${escapePlotlyText(name)}</extra>`,
      xaxis: 'x',
      yaxis: formatAxisName('y', panel + 1),
      connectgaps: false,
      line: { color: LINES[policy], width: policy === 0 ? 1.5 : 1.8, dash: policy === 0 ? 'dot' : 'solid' },
    })),
  );
}

/** Plotly draws no axis that has no trace. */
function buildSecondScaleTraces({ policies }: DriftResult): object[] {
  const time = new Date(policies[0]?.samples[0]?.time ?? 0).toISOString();
  return PANELS.flatMap(({ second }, panel) =>
    second === null
      ? []
      : [
          {
            type: 'scatter',
            x: [time],
            y: [null],
            yaxis: formatAxisName('y', numberSecondAxis(panel)),
            showlegend: false,
            hoverinfo: 'skip',
          },
        ],
  );
}

function buildAxisTitle(text: string): object {
  return { text, standoff: 10, font: { size: 12.5, color: QUIET } };
}

function buildValueAxes(result: DriftResult): Record<string, object> {
  const common = { gridcolor: RULE, zeroline: false, tickfont: { color: INK }, fixedrange: true, nticks: 6 };
  const axes: Record<string, object> = {};
  for (const [panel, { title, second, scale, ...rest }] of PANELS.entries()) {
    const range = computePanelRange(result, { title, second, scale, ...rest });
    const type = scale === 'log' ? { type: 'log', ...LOG_TICKS } : { type: 'linear', tickmode: 'auto' };
    axes[formatLayoutKey(panel + 1)] = {
      ...common,
      ...type,
      domain: computePanelDomain(panel),
      range,
      title: buildAxisTitle(title),
    };
    if (second === null) continue;
    axes[formatLayoutKey(numberSecondAxis(panel))] = {
      ...common,
      ...type,
      overlaying: formatAxisName('y', panel + 1),
      side: 'right',
      showgrid: false,
      range: computeSecondRange(range, scale, second.factor),
      title: buildAxisTitle(second.title),
    };
  }
  return axes;
}

/** The first day, and the first and the middle of each month that is not cut out. */
function timeTicks({ policies }: DriftResult, cuts: readonly QuietSpan[]): object {
  const times = policies[0]?.samples.map(({ time }) => new Date(time)) ?? [];
  const shown = times
    .filter((time) => time === times[0] || time.getUTCDate() === 1 || time.getUTCDate() === 15)
    .map((time) => time.toISOString())
    .filter((time) => cuts.every(({ start, end }) => time < start || time > end));
  const buildSpanLabel = (time: string, at: number) => {
    const [year = '', month = '', day = ''] = time.slice(0, 10).split('-');
    const text = `${Number(day)} ${MONTHS[Number(month) - 1]}`;
    return at === 0 || (month === '01' && day === '01') ? `${text}<br>${year}` : text;
  };
  return { tickmode: 'array', tickvals: shown, ticktext: shown.map(buildSpanLabel), tickangle: 0 };
}

function buildVerticalRule(x: string, dash: string): object {
  return { type: 'line', x0: x, x1: x, yref: 'paper', y0: 0, y1: 1, line: { color: QUIET, width: 1, dash } };
}

/** Above the panels. */
function buildFigureRemark(x: string, text: string): object {
  const tick = { x, xref: 'x', xanchor: 'left', y: 1, yref: 'paper', yanchor: 'bottom' };
  return { ...tick, text, showarrow: false, font: { size: 11, color: QUIET } };
}

/** Along the line of a cut, which may have another one close by. */
function cutRemark(x: string, days: number): object {
  const tick = { x, xref: 'x', xanchor: 'left', y: computePanelDomain(1)[1], yref: 'paper', yanchor: 'top' };
  return {
    ...tick,
    text: `${days} days cut`,
    textangle: 90,
    showarrow: false,
    font: { size: 10.5, color: QUIET },
  };
}

/** Four panels over one time axis: messages held, magnitude, energy (and coherence), information (in both units). */
export function buildDriftFigure(result: DriftResult): PlotlyFigure {
  const cuts = findQuietSpans(result);
  const rules = cuts.map(({ end, days }) => [buildVerticalRule(end, 'dash'), cutRemark(end, days)]);
  if (result.unfittedFrom !== null) {
    const time = new Date(result.unfittedFrom).toISOString();
    rules.push([buildVerticalRule(time, 'dot'), buildFigureRemark(time, 'from here: threads new to the encoder')]);
  }
  const layout = {
    height: 940,
    margin: { l: 76, r: 76, t: 64, b: 36 },
    paper_bgcolor: PAPER,
    plot_bgcolor: PAPER,
    font: {
      family: 'ui-sans-serif, system-ui, "Segoe UI", Arial, "Liberation Sans", sans-serif',
      size: 12.5,
      color: INK,
    },
    legend: { orientation: 'h', x: 0, y: 1.03, xanchor: 'left', yanchor: 'bottom' },
    hovermode: 'x unified',
    hoverlabel: { bgcolor: PAPER, bordercolor: RULE, font: { color: INK } },
    xaxis: {
      type: 'date',
      anchor: formatAxisName('y', PANELS.length),
      gridcolor: RULE,
      tickfont: { color: INK },
      ...timeTicks(result, cuts),
      rangebreaks: cuts.map(({ start, end }) => ({ bounds: [start, end] })),
    },
    ...buildValueAxes(result),
    shapes: rules.map(([shape]) => shape),
    annotations: rules.map(([, text]) => text),
  };
  return { data: [...buildPolicyTraces(result), ...buildSecondScaleTraces(result)], layout };
}
