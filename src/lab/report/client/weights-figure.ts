import type { WeightPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import { MOST_FIGURE_ROWS } from '../tables/format.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** A row a number: learned as a dot with its interval, hand-tuned as an open diamond. */
export function drawWeights(node: HTMLElement, weights: readonly WeightPayload[]): void {
  const shown = weights.slice(0, MOST_FIGURE_ROWS);
  const bounds = shown.flatMap(({ handTuned, value, bounds }) => [handTuned, value, ...(bounds ?? [])]);
  const [low, high] = [Math.min(0, ...bounds), Math.max(0, ...bounds)];
  const margin = 0.04 * (high - low); // lines, unlike dots, get none
  const layout = {
    xaxis: plot.buildAxis('', {
      ...plot.buildRoundTicks(low, high, format.formatDecimal),
      range: [low - margin, high + margin],
    }),
    ...plot.buildRowAxis(shown.map(({ name }) => plot.formatRowName(name))),
    hovermode: 'closest',
    shapes: [plot.buildDottedRule(0)],
    showlegend: true,
    ...plot.buildLegendAbove(),
  };
  plot.draw(node, weightTraces(shown), (plot.isNarrow() ? 40 : 22) * shown.length + 110, layout);
}

/** Above 0, below 0, or neither with certainty. */
export function chooseWeightColour({ bounds }: WeightPayload): string {
  if (bounds === null || (bounds[0] <= 0 && bounds[1] >= 0)) return dom.readStyleValue('--undecided');
  return dom.readStyleValue(bounds[0] > 0 ? '--better' : '--worse');
}

export function weightTraces(weights: readonly WeightPayload[]): object[] {
  const common = { type: 'scatter', mode: 'markers', y: weights.map((_, at) => at) };
  const text = weights.map(({ name, value, handTuned, bounds }) => {
    const interval =
      bounds === null ? '' : ` [${format.formatSignificant(bounds[0])}, ${format.formatSignificant(bounds[1])}]`;
    return `${plot.escapePlotlyText(name)}<br>learned ${format.formatSignificant(value)}${interval}, hand-tuned ${format.formatSignificant(handTuned)}`;
  });
  const hover = { text, hovertemplate: '%{text}<extra></extra>' };
  const whiskers = weights.map((weight, at) => buildWeightWhisker(weight, at));
  return [
    ...whiskers.flat(),
    {
      ...common,
      ...hover,
      name: 'hand-tuned',
      x: weights.map(({ handTuned }) => handTuned),
      marker: { color: dom.readStyleValue('--ink'), symbol: 'diamond-open', size: 8 },
    },
    {
      ...common,
      ...hover,
      name: 'learned',
      x: weights.map(({ value }) => value),
      marker: { color: weights.map(chooseWeightColour), symbol: 'circle', size: 8 },
    },
  ];
}

/** The line of an interval, of the colour of its dot: error bars of one trace have one colour. */
function buildWeightWhisker(weight: WeightPayload, at: number): object[] {
  const { bounds } = weight;
  if (bounds === null) return [];
  const line = { color: chooseWeightColour(weight), width: 2 };
  return [{ type: 'scatter', mode: 'lines', x: [...bounds], y: [at, at], line, hoverinfo: 'skip', showlegend: false }];
}
