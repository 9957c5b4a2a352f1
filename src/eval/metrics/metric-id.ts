/** The parts of a metric as it is written: `name`, `name@10`, `name@500t`, `rbp(0.8)`, `map(rel=2)@100`. */
export interface MetricParts {
  readonly name: string;
  /** The entries in brackets, each as written; empty without brackets. */
  readonly entries: readonly string[];
  /** The text after the `@`; null without one. */
  readonly cutoff: string | null;
}

/** Splits at commas that are not within brackets: a list of metrics on a command line. */
export function splitMetricList(list: string): string[] {
  return splitOutsideBrackets(list).map((one) => one.trim());
}

function splitOutsideBrackets(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('([{'.includes(character)) depth++;
    if (')]}'.includes(character)) depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

export function splitMetricId(id: string): MetricParts {
  const [, name = id, brackets, cutoff] = /^([^(@]*)(?:\((.*)\))?(?:@(.*))?$/s.exec(id) ?? [];
  const entries = brackets === undefined ? [] : splitOutsideBrackets(brackets).map((entry) => entry.trim());
  return { name, entries, cutoff: cutoff ?? null };
}
