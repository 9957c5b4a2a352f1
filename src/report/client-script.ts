import * as app from './client/app.ts';
import * as armsFigure from './client/arms-figure.ts';
import * as dom from './client/dom.ts';
import * as gainsFigure from './client/gains-figure.ts';
import * as inspector from './client/inspector.ts';
import * as main from './client/main.ts';
import * as plot from './client/plot.ts';
import * as queryList from './client/query-list.ts';
import * as ranking from './client/ranking.ts';
import * as tables from './client/tables.ts';
import * as thread from './client/thread.ts';
import * as format from './format.ts';

type Functions = Readonly<Record<string, unknown>>;

const FILES: Readonly<Record<string, Functions>> = {
  format,
  dom,
  app,
  plot,
  tables,
  armsFigure,
  gainsFigure,
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
  const objects = Object.entries(FILES).map(([name, functions]) => {
    const texts = Object.values(functions).map(String).join('\n');
    return `const ${name} = (() => {\n${texts}\nreturn { ${Object.keys(functions).join(', ')} };\n})();`;
  });
  return ["'use strict';", 'const __name = (value) => value;', ...objects, 'main.run();'].join('\n');
}
