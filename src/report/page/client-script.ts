import * as app from '../client/app.ts';
import * as armFilter from '../client/arm-filter.ts';
import * as armsFigure from '../client/arms-figure.ts';
import * as attributionFigure from '../client/attribution-figure.ts';
import * as dom from '../client/dom.ts';
import * as gainsFigure from '../client/gains-figure.ts';
import * as heatMap from '../client/heat-map.ts';
import * as inspector from '../client/inspector.ts';
import * as interactionPlot from '../client/interaction-plot.ts';
import * as latencyFigure from '../client/latency-figure.ts';
import * as main from '../client/main.ts';
import * as parallelCoordinates from '../client/parallel-coordinates.ts';
import * as plot from '../client/plot.ts';
import * as queryList from '../client/query-list.ts';
import * as ranking from '../client/ranking.ts';
import * as strataFigure from '../client/strata-figure.ts';
import * as sweep from '../client/sweep.ts';
import * as tables from '../client/tables.ts';
import * as thread from '../client/thread.ts';
import * as calibrationFigure from '../client/training/calibration-figure.ts';
import * as curveFigure from '../client/training/curve-figure.ts';
import * as importanceFigure from '../client/training/importance-figure.ts';
import * as training from '../client/training/training.ts';
import * as weightsFigure from '../client/training/weights-figure.ts';
import * as format from '../tables/format.ts';

type Functions = Readonly<Record<string, unknown>>;

const FILES: Readonly<Record<string, Functions>> = {
  format,
  dom,
  app,
  plot,
  tables,
  armFilter,
  armsFigure,
  gainsFigure,
  sweep,
  heatMap,
  interactionPlot,
  parallelCoordinates,
  strataFigure,
  attributionFigure,
  latencyFigure,
  queryList,
  ranking,
  thread,
  inspector,
  main,
};

/**
 * The script of the page: the text of the functions as they run here, a file as one object. `__name` is what esbuild wraps around a function to keep its
 * name; in the page it has nothing to do.
 */
export function clientScript(): string {
  return scriptOf(FILES, 'main.run();');
}

/** The script of a page that has nothing but tables. */
export function tableScript(): string {
  return scriptOf({ tables }, 'tables.allSortable();');
}

/** The script of a training's page. */
export function trainingScript(): string {
  const figures = { weightsFigure, curveFigure, calibrationFigure, importanceFigure };
  return scriptOf({ format, dom, plot, tables, ...figures, training }, 'training.run();');
}

function scriptOf(files: Readonly<Record<string, Functions>>, start: string): string {
  const objects = Object.entries(files).map(([name, functions]) => {
    const texts = Object.values(functions).map(String).join('\n');
    return `const ${name} = (() => {\n${texts}\nreturn { ${Object.keys(functions).join(', ')} };\n})();`;
  });
  return ["'use strict';", 'const __name = (value) => value;', ...objects, start].join('\n');
}
