import { COLOURS, type PlotlyFigure } from '../figure-page.ts';
import type { ArmResult, TaskResult } from './measure.ts';

const [INK, QUIET, RULE, PAPER, , ...LINES] = Object.keys(COLOURS) as [
  string,
  string,
  string,
  string,
  string,
  ...string[],
];
/** The arms that are drawn, each with a colour. */
const DRAWN = ['base rate', 'neighbours', 'prior'];

const nameAxis = (letter: 'x' | 'y', panel: number) => (panel === 0 ? letter : `${letter}${panel + 1}`);

/** One arm: the observed share of each bin over the predicted one; the area of a mark follows the number of turns. */
function drawArm({ name, calibration }: ArmResult, panel: number, turns: number): object {
  const bins = calibration.bins.filter(({ count }) => count > 0);
  return {
    type: 'scatter',
    mode: 'lines+markers',
    name,
    legendgroup: name,
    showlegend: panel === 0,
    xaxis: nameAxis('x', panel),
    yaxis: nameAxis('y', panel),
    x: bins.map(({ predicted }) => predicted),
    y: bins.map(({ observed }) => observed),
    text: bins.map(({ count }) => `${count} turns`),
    hovertemplate: 'predicted %{x:.3f}, observed %{y:.3f}, %{text}<extra>%{fullData.name}</extra>',
    line: { color: LINES[DRAWN.indexOf(name)], width: 1.5 },
    marker: { size: bins.map(({ count }) => 5 + 25 * Math.sqrt(count / turns)), opacity: 0.8 },
  };
}

function drawDiagonal(panel: number): object {
  return {
    type: 'scatter',
    mode: 'lines',
    x: [0, 1],
    y: [0, 1],
    xaxis: nameAxis('x', panel),
    yaxis: nameAxis('y', panel),
    showlegend: false,
    hoverinfo: 'skip',
    line: { color: QUIET, width: 1, dash: 'dot' },
  };
}

/** The reliability plot: a panel for each task, observed over predicted shares; calibrated predictions lie on the diagonal. */
export function drawReliability(tasks: readonly TaskResult[]): PlotlyFigure {
  const data = tasks.flatMap(({ arms, test }, panel) => [
    drawDiagonal(panel),
    ...arms.filter(({ name }) => DRAWN.includes(name)).map((arm) => drawArm(arm, panel, test.turns)),
  ]);
  const common = { range: [-0.05, 1.05], gridcolor: RULE, zeroline: false, tickfont: { color: INK }, fixedrange: true };
  const axes = tasks.flatMap(({ name }, panel) => [
    [`xaxis${panel === 0 ? '' : panel + 1}`, { ...common, title: { text: `${name}: predicted` } }],
    [`yaxis${panel === 0 ? '' : panel + 1}`, { ...common, ...(panel === 0 ? { title: { text: 'observed' } } : {}) }],
  ]);
  const layout = {
    height: 420,
    margin: { l: 60, r: 20, t: 50, b: 60 },
    paper_bgcolor: PAPER,
    plot_bgcolor: PAPER,
    font: { color: INK, size: 12.5 },
    legend: { orientation: 'h', x: 0, y: 1.05, xanchor: 'left', yanchor: 'bottom' },
    grid: { rows: 1, columns: tasks.length, pattern: 'independent' },
    ...Object.fromEntries(axes),
  };
  return { data, layout };
}
