/** The most rows that a figure of a fit shows; the table below the figure has all rows. */
export const MOST_FIGURE_ROWS = 40;

/** A sentence on the rows that a figure leaves out; empty if it has all. */
export function describeCut(count: number, what: string): string {
  if (count <= MOST_FIGURE_ROWS) return '';
  return ` The figure holds the ${MOST_FIGURE_ROWS} of ${count} ${what} that are greatest in magnitude.`;
}
