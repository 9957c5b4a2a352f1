/** A finished run as a table and as one HTML page that works offline. */

export { renderHtml } from './html.ts';
export { renderMarkdown } from './markdown.ts';
export { type LadderCell, type LadderRow, type LadderTable, ladderTable, MARKS } from './table.ts';
export { renderText } from './text-table.ts';
