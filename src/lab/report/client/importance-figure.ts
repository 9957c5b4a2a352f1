import type { FamilyPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import { MOST_FIGURE_ROWS } from '../tables/format.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** The families whose absence changes most, the largest loss first. */
export function selectShownFamilies(families: readonly FamilyPayload[], metric: number): FamilyPayload[] {
  const mean = ({ differences }: FamilyPayload) => differences[metric]?.[0] ?? 0;
  return [...families]
    .sort((a, b) => Math.abs(mean(b)) - Math.abs(mean(a)))
    .slice(0, MOST_FIGURE_ROWS)
    .sort((a, b) => mean(a) - mean(b));
}

/**
 * A row a family: the metric without it minus with it.
 *
 * @param below the bound that decides for a corrected p below it
 * @param sign -1 where less is better
 */
export function drawImportance(
  node: HTMLElement,
  families: readonly FamilyPayload[],
  metric: number,
  below: number,
  sign: number,
): void {
  const shown = selectShownFamilies(families, metric);
  const bounds = shown.flatMap(({ differences }) => {
    const [difference = 0, low = null, high = null] = differences[metric] ?? [];
    return [difference, low ?? difference, high ?? difference];
  });
  const layout = {
    xaxis: plot.buildAxis(
      '',
      plot.buildRoundTicks(Math.min(0, ...bounds), Math.max(0, ...bounds), format.formatSigned),
    ),
    ...plot.buildRowAxis(shown.map(({ name }) => plot.formatRowName(name))),
    hovermode: 'closest',
    shapes: [plot.buildDottedRule(0)],
  };
  const traces = shown.map((family, at) => buildFamilyTrace(family, at, metric, below, sign));
  plot.draw(node, traces, (plot.isNarrow() ? 40 : 22) * shown.length + 60, layout);
}

export function buildFamilyTrace(
  { name, differences }: FamilyPayload,
  at: number,
  metric: number,
  below: number,
  sign: number,
): object {
  const [difference, low, high, p, decided] = differences[metric] as FamilyPayload['differences'][number];
  const kind = sign * difference < 0 ? '--better' : '--worse';
  const color = dom.readStyleValue(decided ? kind : '--undecided');
  const loss = format.estimate({ mean: difference, low, high }, format.formatSigned, 3);
  return {
    type: 'scatter',
    mode: 'markers',
    x: [difference],
    y: [at],
    error_x: { ...plot.buildWhiskers(difference, low, high), color, thickness: 2, width: 4 },
    marker: { color, size: 9, symbol: decided ? 'circle' : 'circle-open' },
    text: [`without ${plot.escapePlotlyText(name)}<br>${loss}, p ${format.formatProbability(p, below)}`],
    hovertemplate: '%{text}<extra></extra>',
  };
}
