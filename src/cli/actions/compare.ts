import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import type { TestName } from '../../eval/significance/multiple-comparisons.ts';
import {
  renderComparisonHtml,
  renderComparisonMarkdown,
  renderComparisonText,
} from '../../lab/report/page/comparison-page.ts';
import { renderLettersLatex, renderLettersMarkdown, renderLettersText } from '../../lab/report/tables/letters-table.ts';
import { compareRuns, compareStoredPairs } from '../../lab/stored/run-comparison.ts';

interface CompareFlags {
  readonly allPairs: boolean;
  readonly metrics?: readonly string[];
  readonly arm?: readonly string[];
  readonly test: TestName;
  readonly markdown: boolean;
  readonly latex: boolean;
  readonly html?: string;
}

export function compare(first: string, second: string | undefined, flags: CompareFlags): void {
  if (flags.allPairs) {
    printAllPairs(second === undefined ? [first] : [first, second], flags);
    return;
  }
  assertTwoRuns(flags, second);
  const comparison = compareRuns(first, second, createTerminalProgress());
  const { columns } = process.stdout; // undefined where stdout is no terminal
  printOut(flags.markdown ? renderComparisonMarkdown(comparison) : renderComparisonText(comparison, columns));
  if (flags.html === undefined) return;
  writeAtomic(flags.html, renderComparisonHtml(comparison));
  printError(`page: ${flags.html}\n`);
}

function assertTwoRuns(flags: CompareFlags, second: string | undefined): asserts second is string {
  const { metrics, arm, latex } = flags;
  const option = metrics ? '--metrics' : arm ? '--arm' : latex ? '--latex' : undefined;
  if (option !== undefined)
    throw new ValidationError(`option needs --all-pairs: ${option}; add --all-pairs, or leave it out`, { option });
  if (second === undefined)
    throw new ValidationError('compare has 1 run; name a second run, or add --all-pairs to compare the arms of one');
}

function printAllPairs(folders: readonly [string] | readonly [string, string], flags: CompareFlags): void {
  const { metrics = null, arm = null, test } = flags;
  const pairs = compareStoredPairs(folders, { metrics, arms: arm, test }, createTerminalProgress());
  if (flags.latex) printOut(renderLettersLatex(pairs));
  else printOut(flags.markdown ? renderLettersMarkdown(pairs) : renderLettersText(pairs, process.stdout.columns));
}
