import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

export function start(state: App): void {
  const node = dom.getElement('arms-figure');
  app.watch(state, ['metric', 'filter'], () => drawArms(state, node));
  plot.redrawOnNewLook(() => drawArms(state, node));
}

/** A dot with whiskers an arm, in the order of the ladder from above. */
function drawArms(state: App, node: HTMLElement): void {
  const { arms, baseline, metrics } = state.data;
  const { metric } = state.choice;
  const narrow = plot.isNarrow();
  const drawn = app.listDrawnArms(state, 60);
  const bounds = [...drawn, baseline].flatMap(
    (arm) => arms[arm]?.intervals[metric]?.filter((end) => end !== null) ?? [],
  );
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const layout = {
    xaxis: plot.buildAxis(metrics[metric] ?? '', plot.buildRoundTicks(low, high, format.formatDecimal)),
    ...plot.buildRowAxis(formatArmNames(state, drawn)),
    hovermode: 'closest',
    shapes: baseline < 0 ? [] : [plot.buildDottedRule(arms[baseline]?.intervals[metric]?.[0] ?? 0)],
  };
  const traces = drawn.map((arm, at) => buildArmTrace(arms[arm] as ArmPayload, at, metric, arm === baseline));
  plot.draw(node, traces, (narrow ? 40 : 27) * drawn.length + 64, layout);
  const label = `${metrics[metric]} of every arm with its interval; the same numbers are in the table`;
  node.setAttribute('aria-label', label);
  dom.getElement('arms-count').textContent = app.describeDrawnArms(state, drawn);
}

/** Names of arms, the baseline's in bold. */
export function formatArmNames({ data: { arms, baseline } }: App, drawn: readonly number[]): string[] {
  return drawn.map((arm) => {
    const name = plot.formatRowName(arms[arm]?.name ?? '');
    return arm === baseline ? `<b>${name}</b>` : name;
  });
}

export function buildArmTrace(arm: ArmPayload, at: number, metric: number, isBaseline: boolean): object {
  const [mean = 0, low = null, high = null] = arm.intervals[metric] ?? [];
  const verdict = arm.verdicts[metric] ?? 'undecided';
  const color = dom.readStyleValue(isBaseline ? '--ink' : `--${verdict}`);
  const symbol = isBaseline
    ? 'diamond'
    : { better: 'triangle-up', worse: 'triangle-down', undecided: 'circle' }[verdict];
  const figures = format.estimate({ mean, low, high }, format.formatDecimal, 3);
  return {
    type: 'scatter',
    mode: 'markers',
    x: [mean],
    y: [at],
    error_x: { ...plot.buildWhiskers(mean, low, high), color, thickness: 1.5, width: 0 },
    marker: { color, symbol, size: 9 },
    text: [`${plot.escapePlotlyText(arm.name)}<br>${figures}`],
    hovertemplate: '%{text}<extra></extra>',
  };
}
