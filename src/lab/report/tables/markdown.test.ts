import { expect, test } from 'vitest';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { renderMarkdown } from './markdown.ts';
import { escapeMarkdown } from './pipe-table.ts';
import { buildHandmadeResult } from './result.fixture.ts';

test('two tables, the legend, and what made the numbers', () => {
  expect(renderMarkdown(buildHandmadeResult())).toBe(
    String.raw`| arm                 | mrr@10            | recall@10         | unjudged |
| ------------------- | ----------------- | ----------------- | -------- |
| newest \| \<first\> | .353 [.33, .38] ▼ | .099 [.00, .20]   | 17       |
| bm25 (baseline)     | .496 [.47, .52]   | .100 [.08, .11]   | 5        |
| cosine              | 1.000 [.98, 1.00] | .200 [.15, .24] ▲ | 0        |

Differences from bm25, with p:

| arm                 | mrr@10                        | recall@10                    |
| ------------------- | ----------------------------- | ---------------------------- |
| newest \| \<first\> | −.143 [−.17, −.12], p <.001 ▼ | .000 [−.02, +.02], p 1.000   |
| cosine              | +.504 [+.48, +.53], p .051    | +.100 [+.05, +.15], p .049 ▲ |

On mrr@10, newest \| \<first\> is worse than bm25.
cosine cannot be distinguished from bm25: the difference on mrr@10 is .504, and .031 the smallest that 5 conversations detect without a correction.
Other metrics: cosine is better on recall@10.

▲ better, ▼ worse than bm25, said only where the corrected p is below .05; no mark: undecided.
p: paired sign-flip permutation test (10,000 samples), clustered by conversation, corrected by Holm over the arms.
Where .05 is within the Monte Carlo error of p, more samples are drawn, up to 1,000,000.
Brackets: 95 % cluster-robust t intervals (fewer than 20 conversations). 10 queries in 5 conversations.
Intervals of few conversations cover less than 95 % where their sizes are skewed: .88 to .91 for .95.

Experiment sample (3f9a1c20) on sample-threads test; version 0.1.0, commit abcdef0, backend wasm, 2 x Imaginary CPU, seed 3; npm start
`,
  );
});

test('a text is shown as it is, in one line', () => {
  expect(escapeMarkdown('a|b\n<c> *d* _e_ `f` [g] \\h &lt; ~~i~~')).toBe(
    'a\\|b \\<c\\> \\*d\\* \\_e\\_ \\`f\\` \\[g\\] \\\\h \\&lt; \\~\\~i\\~\\~',
  );
});

test('where the baseline failed there is one table, and why', () => {
  const text = renderMarkdown(withFailedBaseline(buildHandmadeResult()));
  expect(text.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(4);
  expect(text).not.toContain('Differences from');
  expect(text).toContain('\nNo arm is compared with the baseline, bm25, which failed.\n');
  expect(text).toContain('\n* failed: bm25, NOT\\_FINITE: score is not finite: NaN\n');
});
