/** A finished run as a table for every reader and as one HTML page that works offline; two runs side by side. */

export { renderComparisonHtml, renderComparisonMarkdown, renderComparisonText } from './comparison-page.ts';
export { renderCsv } from './csv.ts';
export { renderHtml } from './html.ts';
export { renderLatex } from './latex.ts';
export { MARKS } from './legend.ts';
export { renderMarkdown } from './markdown.ts';
export {
  type AbsentRow,
  type LadderCell,
  type LadderComparison,
  type LadderRow,
  type LadderTable,
  ladderTable,
} from './table.ts';
export { renderText } from './text-table.ts';
export { renderTrainingCsv } from './training-csv.ts';
export { renderTrainingHtml } from './training-page.ts';
export { renderTrainingMarkdown, renderTrainingText } from './training-table.ts';
