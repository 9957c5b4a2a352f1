import { MECHANISMS } from './arms.ts';
import type { PlantedComparison } from './comparisons.ts';
import type { PlantedTruthSettings } from './settings.ts';

/** A figure for Plotly: for each dependency a panel with a line of each mechanism, gain over its base by strength, and the gain that is possible. */
export function drawPlantedFigure(compared: readonly PlantedComparison[], { dependencies }: PlantedTruthSettings) {
  const nameAxis = (letter: string, panel: number) => (panel === 0 ? letter : `${letter}${panel + 1}`);
  const data = dependencies.flatMap((dependency, panel) => {
    const rows = compared.filter((one) => one.dependency === dependency);
    const axes = { xaxis: nameAxis('x', panel), yaxis: nameAxis('y', panel), showlegend: panel === 0 };
    const lines = MECHANISMS.map(({ name }) => {
      const own = rows.filter((one) => one.arm === name);
      return {
        type: 'scatter',
        mode: 'lines+markers',
        name,
        legendgroup: name,
        ...axes,
        x: own.map(({ strength }) => strength),
        y: own.map(({ difference }) => difference.mean),
        error_y: {
          type: 'data',
          symmetric: false,
          array: own.map(({ difference: { mean, high } }) => (high ?? mean) - mean),
          arrayminus: own.map(({ difference: { mean, low } }) => mean - (low ?? mean)),
        },
      };
    });
    const [any] = lines.map(({ name }) => rows.filter((one) => one.arm === name));
    const possible = {
      type: 'scatter',
      mode: 'lines',
      name: 'possible',
      legendgroup: 'possible',
      line: { dash: 'dot', color: '#888888' },
      ...axes,
      x: (any ?? []).map(({ strength }) => strength),
      y: (any ?? []).map(({ ceiling, chance }) => ceiling - chance),
    };
    return [...lines, possible];
  });
  const panels = dependencies.map((dependency, panel) => [
    [`xaxis${panel === 0 ? '' : panel + 1}`, { title: { text: `${dependency}: strength` } }],
    [`yaxis${panel === 0 ? '' : panel + 1}`, panel === 0 ? { title: { text: 'gain in MRR' } } : {}],
  ]);
  const grid = { rows: 1, columns: dependencies.length, pattern: 'independent' };
  return { data, layout: { grid, ...Object.fromEntries(panels.flat()) } };
}
