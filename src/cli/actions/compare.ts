import { writeAtomic } from '../../core/files.ts';
import { printError, printOut } from '../../core/terminal.ts';
import { compareRuns } from '../../experiment/stored/run-comparison.ts';
import {
  renderComparisonHtml,
  renderComparisonMarkdown,
  renderComparisonText,
} from '../../report/page/comparison-page.ts';

export function compare(first: string, second: string, options: { markdown: boolean; html?: string }): void {
  const comparison = compareRuns(first, second);
  const { columns } = process.stdout; // undefined where stdout is no terminal
  printOut(options.markdown ? renderComparisonMarkdown(comparison) : renderComparisonText(comparison, columns));
  if (options.html === undefined) return;
  writeAtomic(options.html, renderComparisonHtml(comparison));
  printError(`page: ${options.html}\n`);
}
