import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as plot from './plot.ts';
import * as ranking from './ranking.ts';
import * as thread from './thread.ts';

/** A turn of the picture, in columns from the left and rows from above. */
export interface TreeNode {
  readonly turn: number;
  readonly isQuery: boolean;
  readonly x: number;
  readonly y: number;
  /** Place of the node that it is joined to; -1 for the first of a thread. */
  readonly above: number;
  /** Turns between the two that are left out. */
  readonly skipped: number;
}

/** Pixels between two rows. */
const ROW = 46;

/** More columns than these have no room for labels; ranks are shown on hover. */
const LABELLED_COLUMNS = { wide: 16, narrow: 6 };

export function start(state: App): void {
  const node = dom.getElement('thread-figure');
  const draw = () => drawTree(state, node);
  app.watch(state, ['query', 'left', 'right'], draw);
  plot.redrawOnNewLook(draw);
}

/** A turn with the turns that answer it. */
interface Branch {
  readonly row: thread.ThreadRow;
  readonly children: Branch[];
}

/** Rows in depth-first order as a tree: each row is a child of the nearest row above it with a smaller depth. */
function nestRows(rows: readonly thread.ThreadRow[]): Branch[] {
  const roots: Branch[] = [];
  const open: Branch[] = [];
  for (const row of rows) {
    const branch = { row, children: [] };
    open.length = Math.min(open.length, row.depth);
    (open.at(-1)?.children ?? roots).push(branch);
    open.push(branch);
  }
  return roots;
}

/**
 * Lays out the turns that matter, replies to the right of what they answer. Turns that are neither marked, nor the first, nor answered by two that lead to
 * marked ones are left out.
 */
export function layOutTree(
  rows: readonly thread.ThreadRow[],
  isMarked: (row: thread.ThreadRow) => boolean,
): TreeNode[] {
  const nodes: TreeNode[] = [];
  let lines = 0;
  const leads = new Map<Branch, boolean>();
  const flat: Branch[] = [];
  const roots = nestRows(rows);
  for (const stack = [...roots]; stack.length > 0; ) {
    const branch = stack.pop() as Branch;
    flat.push(branch);
    stack.push(...branch.children);
  }
  for (const branch of flat.reverse())
    leads.set(branch, isMarked(branch.row) || branch.children.some((child) => leads.get(child)));
  const stack = roots.map((branch) => ({ branch, above: -1, skipped: 0, continues: false })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { branch, above, skipped, continues } = next;
    const children = branch.children.filter((child) => leads.get(child));
    if (above >= 0 && !isMarked(branch.row) && children.length === 1) {
      stack.push({ branch: children[0] as Branch, above, skipped: skipped + 1, continues });
      continue;
    }
    const { turn, isQuery } = branch.row;
    const parent = nodes[above];
    const y = continues && parent !== undefined ? parent.y : lines++;
    nodes.push({ turn, isQuery, x: parent === undefined ? 0 : parent.x + 1, y, above, skipped });
    const own = nodes.length - 1;
    // the first reply stays in the row, the others begin rows below it
    for (const [at, child] of [...children.entries()].reverse())
      stack.push({ branch: child, above: own, skipped: 0, continues: at === 0 });
  }
  return nodes;
}

function drawTree(state: App, node: HTMLElement): void {
  const { query, left, right } = state.choice;
  if (query < 0) return;
  const grades = ranking.indexGrades(state, query);
  const ranks = { A: ranking.indexRanks(state, left, query), B: ranking.indexRanks(state, right, query) };
  const isMarked = ({ turn, isQuery }: thread.ThreadRow) =>
    isQuery || ranks.A.has(turn) || ranks.B.has(turn) || (grades.get(turn) ?? 0) >= state.data.relevantGrade;
  const rows = thread.listConversations(state, grades).flatMap((id) => thread.layOutThread(state, id, query, grades));
  dom.getElement('thread-absence').hidden = rows.length > 0;
  dom.getElement('thread-parts').hidden = rows.length === 0;
  const nodes = layOutTree(rows, isMarked);
  const columns = Math.max(0, ...nodes.map(({ x }) => x));
  const lines = Math.max(0, ...nodes.map(({ y }) => y));
  const isLabelled = columns < LABELLED_COLUMNS[plot.isNarrow() ? 'narrow' : 'wide'];
  const hidden = { visible: false, fixedrange: true };
  const layout = {
    xaxis: { ...hidden, range: [-0.5, Math.max(columns, 3) + 0.5] },
    yaxis: { ...hidden, range: [lines + 0.5, -0.8] },
    margin: { l: 4, r: 4, t: 4, b: 4 },
    hovermode: 'closest',
  };
  const traces = [...buildEdgeTraces(nodes), buildNodeTrace(state, nodes, { grades, ranks, query }, isLabelled)];
  plot.draw(node, traces, ROW * (lines + 1) + 40, layout);
  const omitted = rows.length - nodes.length;
  dom.getElement('thread-count').textContent =
    `${nodes.length} of ${rows.length} turns${omitted === 0 ? '' : ': those that a rank, a judgement or a fork needs'}.`;
  node.setAttribute('aria-label', 'the thread as a tree with ranks in A and B; the list below holds the same turns');
}

/** Lines down from a turn, then right to its reply; dashed with a number where turns are left out. */
export function buildEdgeTraces(nodes: readonly TreeNode[]): object[] {
  const edges = nodes.flatMap((node) => {
    const parent = nodes[node.above];
    return parent === undefined ? [] : [{ node, parent }];
  });
  const buildTrace = (dash: string, skips: boolean) => {
    const drawn = edges.filter(({ node }) => node.skipped > 0 === skips);
    return {
      type: 'scatter',
      mode: 'lines',
      x: drawn.flatMap(({ node, parent }) => [parent.x, parent.x, node.x, null]),
      y: drawn.flatMap(({ node, parent }) => [parent.y, node.y, node.y, null]),
      line: { color: dom.readStyleValue('--undecided'), width: 1.2, dash },
      hoverinfo: 'skip',
    };
  };
  const folded = edges.filter(({ node }) => node.skipped > 0);
  return [
    buildTrace('solid', false),
    buildTrace('dot', true),
    {
      type: 'scatter',
      mode: 'text',
      x: folded.map(({ node, parent }) => (node.x + parent.x) / 2),
      y: folded.map(({ node }) => node.y + 0.1), // below the line
      text: folded.map(({ node }) => `+${node.skipped}`),
      textposition: 'bottom center',
      textfont: { size: 11, color: dom.readStyleValue('--quiet') },
      hoverinfo: 'skip',
    },
  ];
}

interface TreeMarks {
  readonly grades: ReadonlyMap<number, number>;
  readonly ranks: { readonly A: ReadonlyMap<number, number>; readonly B: ReadonlyMap<number, number> };
  readonly query: number;
}

function buildNodeTrace(state: App, nodes: readonly TreeNode[], marks: TreeMarks, isLabelled: boolean): object {
  const { grades, ranks } = marks;
  const colours = { A: dom.readStyleValue('--A'), B: dom.readStyleValue('--B') };
  const [ink, paper, grade] = ['--ink', '--paper', '--grade'].map(dom.readStyleValue);
  const isRelevant = (turn: number) => (grades.get(turn) ?? 0) >= state.data.relevantGrade;
  const writeRanks = ({ turn, isQuery }: TreeNode) =>
    isQuery
      ? 'query'
      : (['A', 'B'] as const)
          .flatMap((letter) => {
            const rank = ranks[letter].get(turn);
            return rank === undefined ? [] : [`<span style="color:${colours[letter]}">${letter} ${rank}</span>`];
          })
          .join(' ');
  return {
    type: 'scatter',
    mode: isLabelled ? 'markers+text' : 'markers',
    x: nodes.map(({ x }) => x),
    y: nodes.map(({ y }) => y),
    text: nodes.map(writeRanks),
    textposition: 'top center',
    textfont: { size: 12, color: ink },
    customdata: nodes.map((node) =>
      [writeRanks(node), describeNode(state, node, marks.query)].filter(Boolean).join('<br>'),
    ),
    hovertemplate: '%{customdata}<extra></extra>',
    marker: {
      size: 12,
      symbol: nodes.map(({ isQuery }) => (isQuery ? 'square' : 'circle')),
      color: nodes.map(({ turn, isQuery }) => (isQuery ? ink : isRelevant(turn) ? grade : paper)),
      line: { width: 1.5, color: nodes.map(({ turn, isQuery }) => (!isQuery && isRelevant(turn) ? grade : ink)) },
    },
  };
}

function describeNode({ data: { turns, queries } }: App, { turn }: TreeNode, query: number): string {
  const asked = queries[query];
  const author = turn < 0 ? asked?.author : turns.names[turns.author[turn] ?? -1];
  const time = turn < 0 ? asked?.timestamp : turns.timestamp[turn];
  const text = turn < 0 ? asked?.text : turns.text[turn];
  const origin = [author, format.formatMinute(time ?? 0)].filter(Boolean).join(' · ');
  return `${plot.escapePlotlyText(origin)}<br>${plot.escapePlotlyText(text?.slice(0, 70) ?? '')}`;
}
