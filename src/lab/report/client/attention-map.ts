import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';
import * as ranking from './ranking.ts';

/** An arm's attention to a candidate. */
export interface AttentionCell {
  /** Position of the arm among those with attention. */
  readonly column: number;
  /** Position of the turn among the candidates of A and B. */
  readonly row: number;
  readonly attention: number;
  /** Of the greatest attention of the arm to one of its ranked turns. */
  readonly share: number;
}

export function start(state: App): void {
  if (!dom.has('attention')) return;
  const node = dom.getElement('attention-figure');
  const draw = () => drawAttention(state, node);
  app.watch(state, ['query', 'left', 'right', 'filter'], draw);
  plot.redrawOnNewLook(draw);
}

const findPart = (state: App, arm: number) => format.findAttentionPart((state.data.arms[arm] as ArmPayload).components);

/** Arms with attention whose rankings the page holds, by position. */
export function listAttendingArms(state: App): number[] {
  return app.listShownArms(state).filter((arm) => state.data.arms[arm]?.rankings && findPart(state, arm) >= 0);
}

/** The candidates of A, then those of B alone. */
export function listCandidates(state: App): number[] {
  const { query, left, right } = state.choice;
  return [...new Set([left, right].flatMap((arm) => [...ranking.indexRanks(state, arm, query).keys()]))];
}

export function listAttentionCells(state: App, arms: readonly number[], turns: readonly number[]): AttentionCell[] {
  return arms.flatMap((arm, column) => {
    const part = findPart(state, arm);
    const ranked = ranking.listRanking(state, arm, state.choice.query);
    const most = Math.max(0, ...ranked.map(({ components }) => components[part] ?? 0));
    return ranked.flatMap(({ turn, components }) => {
      const attention = components[part] ?? 0;
      const row = turns.indexOf(turn);
      return row < 0 ? [] : [{ column, row, attention, share: most === 0 ? 0 : attention / most }];
    });
  });
}

function drawAttention(state: App, node: HTMLElement): void {
  const { arms, turns: held } = state.data;
  const attending = listAttendingArms(state);
  node.hidden = attending.length === 0;
  dom.getElement('attention-note').textContent =
    attending.length === 0 ? 'The filter of arms hides every arm with attention.' : '';
  const turns = listCandidates(state);
  const narrow = plot.isNarrow();
  const { left, right, query } = state.choice;
  const ranks = { A: ranking.indexRanks(state, left, query), B: ranking.indexRanks(state, right, query) };
  const labels = turns.map((turn) => {
    const places = (['A', 'B'] as const).flatMap((letter) =>
      ranks[letter].has(turn) ? [`${letter} ${ranks[letter].get(turn)}`] : [],
    );
    const name = held.names[held.author[turn] ?? -1] ?? held.id[turn] ?? '';
    return `${plot.shortenMiddle(name, narrow ? 12 : 28)}  ${places.join(' ')}`;
  });
  const cells = listAttentionCells(state, attending, turns).map(({ column, row, attention, share }) => ({
    x: column,
    y: row,
    share,
    label: narrow && attending.length > 4 ? '' : format.formatSignificant(attention),
    hover: `${plot.escapePlotlyText(arms[attending[column] ?? -1]?.name ?? '')}<br>${format.formatSignificant(attention)}  ${plot.escapePlotlyText(held.text[turns[row] ?? -1]?.slice(0, 60) ?? '')}`,
  }));
  const names = attending.map((arm) => plot.shortenMiddle(arms[arm]?.name ?? '', narrow ? 14 : 24));
  const { xaxis, yaxis, ...layout } = plot.buildCellLayout({ title: '', labels: names }, { title: '', labels });
  const sides = {
    xaxis: { ...xaxis, side: 'top' },
    yaxis: { ...yaxis, range: [turns.length - 0.5, -0.5] },
    margin: { l: 8, r: 12, t: 30, b: 8 },
  };
  plot.draw(node, [plot.buildCellTrace(cells, '--B')], 26 * turns.length + (narrow ? 120 : 60), {
    ...layout,
    ...sides,
  });
  node.setAttribute('aria-label', 'attention of each arm to the candidates of A and B; a column an arm, a row a turn');
}
