import { isFitted } from '../measure/result.ts';
import { renderHtml } from '../report/page/html.ts';
import { renderCsv } from '../report/tables/csv.ts';
import { renderFitFiles } from '../report/tables/fit-table.ts';
import { renderLatex, renderMarkdown } from '../report/tables/markdown.ts';
import { type MeasuredRankings, type RunFiles, runFiles } from '../run/run-folder.ts';
import { encodePerQueryParquet } from '../stored/per-query-values.ts';

/** The files of a finished run with its tables and its page: those of the folder that `ragpp run` writes, besides what arms leave. */
export function renderRunFiles(finished: MeasuredRankings): RunFiles {
  const { result } = finished;
  return {
    ...runFiles(finished),
    'per-query.parquet': encodePerQueryParquet(result),
    'table.md': renderMarkdown(result),
    'table.tex': renderLatex(result),
    'table.csv': renderCsv(result),
    ...(isFitted(result) ? renderFitFiles(result) : {}),
    'report.html': renderHtml(result),
  };
}
