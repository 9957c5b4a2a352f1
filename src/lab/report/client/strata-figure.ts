import { isSignificant } from '../../../eval/significance/verdict.ts';
import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';

/** A line of the forest plot: a heading without a figure, or a level. */
interface Branch {
  readonly label: string;
  readonly isHeading: boolean;
  /** [difference, low, high, corrected p], the ends null without an interval; empty without a difference. */
  readonly figures: readonly (number | null)[];
  /** True if the p decides. */
  readonly decided: boolean;
}

export function start(state: App): void {
  const node = dom.getElement('strata-figure');
  app.watch(state, ['metric', 'right'], () => drawForest(state, node));
  plot.redrawOnNewLook(() => drawForest(state, node));
}

/** All queries first, then each stratum with its levels. */
export function listBranches({ data, choice }: App): Branch[] {
  const arm = data.arms[choice.right] as ArmPayload;
  const all = {
    label: `all queries (${data.queries.length})`,
    isHeading: false,
    figures: arm.differences[choice.metric] ?? [],
    decided: (arm.verdicts[choice.metric] ?? 'undecided') !== 'undecided',
  };
  const strata = data.strata.flatMap(({ name, levels }, stratum) => [
    { label: name, isHeading: true, figures: [], decided: false },
    ...levels.map((level, at) => {
      const figures = listDrawnFigures(arm.strata[stratum]?.[at]?.[choice.metric]);
      return {
        label: `${level.name} (${level.queries})`,
        isHeading: false,
        figures,
        decided: isSignificant(figures[3] ?? 1, data.level),
      };
    }),
  ]);
  return [all, ...strata];
}

/** Without the mean; nothing without an interval. */
function listDrawnFigures(values: readonly (number | null)[] = []): number[] {
  const [, difference, low, high, p] = values;
  if (difference == null || low == null || high == null) return [];
  return [difference, low, high, p ?? 1];
}

function drawForest(state: App, node: HTMLElement): void {
  const { arms, baseline, metrics } = state.data;
  const { metric, right } = state.choice;
  const branches = listBranches(state);
  const bounds = branches.flatMap(({ figures }) => figures.slice(0, 3).filter((end) => end !== null));
  const names = branches.map(({ label, isHeading }) =>
    isHeading ? `<b>${plot.escapePlotlyText(label)}</b>` : plot.escapePlotlyText(label),
  );
  const narrow = plot.isNarrow();
  const layout = {
    xaxis: plot.buildAxis(
      '',
      plot.buildRoundTicks(Math.min(0, ...bounds), Math.max(0, ...bounds), format.formatSigned),
    ),
    ...plot.buildRowAxis(names),
    hovermode: 'closest',
    shapes: [plot.buildDottedRule(0)],
  };
  const traces = branches.flatMap((branch, at) =>
    branch.figures.length === 0 ? [] : [buildBranchTrace(branch, at, 1 - state.data.level, app.readSign(state))],
  );
  plot.draw(node, traces, (narrow ? 40 : 25) * branches.length + 60, layout);
  const title = `${metrics[metric]}: ${arms[right]?.name} minus ${arms[baseline]?.name}`;
  const note =
    right === baseline ? 'This is the baseline: choose another arm.' : `${title}, by level; queries in brackets.`;
  dom.getElement('strata-summary').textContent = note;
  node.setAttribute('aria-label', `${title}, a line a level of each stratum, with intervals`);
}

/** @param sign -1 where less is better. */
export function buildBranchTrace({ label, figures, decided }: Branch, at: number, below: number, sign = 1): object {
  const [difference, p] = [figures[0] ?? 0, figures[3] ?? 1];
  const [low, high] = [figures[1] ?? null, figures[2] ?? null];
  const gain = format.estimate({ mean: difference, low, high }, format.formatSigned, 3);
  const color = dom.readStyleValue(decided ? (sign * difference > 0 ? '--better' : '--worse') : '--undecided');
  const text = `${plot.escapePlotlyText(label)}<br>${gain}, p ${format.formatProbability(p, below)}`;
  return {
    type: 'scatter',
    mode: 'markers',
    x: [difference],
    y: [at],
    error_x: { ...plot.buildWhiskers(difference, low, high), color, thickness: 1.5, width: 0 },
    marker: { color, symbol: decided ? 'square' : 'square-open', size: 9, line: { width: 1.5, color } },
    text: [text],
    hovertemplate: '%{text}<extra></extra>',
  };
}
