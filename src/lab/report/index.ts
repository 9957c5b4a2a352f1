/** A finished run as a table for every reader and as one HTML page that works offline; two runs side by side. */

export { drawFigure, FIGURE_NAMES, type FigureName, type FigureOptions, type PlotlyFigure } from './figures/figures.ts';
export { renderComparisonHtml, renderComparisonMarkdown, renderComparisonText } from './page/comparison-page.ts';
export { renderHtml } from './page/html.ts';
export { type ChosenTableFormat, renderChosenTable, type TableChoice } from './tables/chosen-table.ts';
export { renderCsv } from './tables/csv.ts';
export { renderLatex } from './tables/latex.ts';
export { MARKS } from './tables/legend.ts';
export { renderMarkdown } from './tables/markdown.ts';
export {
  type AbsentRow,
  buildLadderTable,
  type LadderCell,
  type LadderComparison,
  type LadderRow,
  type LadderTable,
} from './tables/table.ts';
export { renderText } from './tables/text-table.ts';
