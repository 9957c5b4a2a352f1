/** The most rows that a figure of a training shows; the table below the figure has all rows. */
export const MOST_FIGURE_ROWS = 40;
