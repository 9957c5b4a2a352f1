import { attachDisplay, buildTableBundle, joinBundles, type MimeBundle } from '../../core/display/display.ts';
import { phrase, type ShowableText, stateShown } from '../../core/display/showable-text.ts';
import { formatDecimal } from '../../core/text/format.ts';
import type { FitResult } from './fit-result.ts';
import { formatLook } from './numbered-look.ts';
import type { Estimate, ExperimentResult } from './result.ts';

/** Each mean with its interval, as `.496 [.47, .52]`. */
export function formatEstimates(metrics: Readonly<Record<string, Estimate>>): Record<string, ShowableText> {
  return Object.fromEntries(
    Object.entries(metrics).map(([metric, { mean, low, high }]) => {
      const ends = low === null || high === null ? '' : ` [${formatDecimal(low, 2)}, ${formatDecimal(high, 2)}]`;
      return [metric, stateShown(formatDecimal(mean, 3) + ends)];
    }),
  );
}

/** The arms of a result with the mean and the interval of each metric, then what was learned, for a notebook. */
export function buildResultBundle({ fit, ...result }: ExperimentResult): MimeBundle {
  const arms = buildArmsBundle(result);
  return fit === undefined ? arms : joinBundles([arms, buildNumbersBundle(fit)]);
}

function buildNumbersBundle({ numbers }: FitResult): MimeBundle {
  const rows = numbers.map(({ parameter, label, interval, ...number }) => ({
    ...{ parameter: stateShown(parameter), label: stateShown(label) },
    ...{ ...number, ...interval },
  }));
  return buildTableBundle(rows, { caption: phrase`learned numbers`, limit: 200 });
}

function buildArmsBundle({ name, baseline, arms, failures, queries, look }: ExperimentResult): MimeBundle {
  const rows = arms.map((arm) => ({
    arm: stateShown(arm.name === baseline ? `${arm.name} (baseline)` : arm.name),
    ...formatEstimates(arm.metrics),
  }));
  const failed = failures.map((failure) => ({ arm: stateShown(`${failure.name} failed: ${failure.message}`) }));
  const counted = stateShown(look === undefined ? '' : `. ${formatLook(look)}`);
  const caption = phrase`${stateShown(name)}: ${queries.length} queries${counted}`;
  return buildTableBundle([...rows, ...failed], { caption, limit: 100 });
}

/** Lets a notebook show a result as a table of its arms. @returns the same object. */
export function displayResult(result: ExperimentResult): ExperimentResult {
  return attachDisplay(result, buildResultBundle);
}
