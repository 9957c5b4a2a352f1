import { expect, test } from 'vitest';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { escapeLatex, renderLatex } from './markdown.ts';
import { buildHandmadeResult } from './result.fixture.ts';

test('every character that means something to LaTeX is escaped once, and a line break is a space', () => {
  expect(escapeLatex('\\ { } $ & # % _ ^ ~ < > | \n −.5 × 2')).toBe(
    String.raw`\textbackslash{} \{ \} \$ \& \# \% \_ \textasciicircum{} \textasciitilde{} \textless{} \textgreater{} \textbar{} $-$.5 $\times$ 2`,
  );
  expect(escapeLatex('Größe, naïve')).toBe('Größe, naïve');
});

test('a table with booktabs alone: means with marks and intervals, failures, controls and the legend', () => {
  const result = buildHandmadeResult();
  const arms = result.arms.map((arm) =>
    arm.name === 'cosine' ? { ...arm, name: '[cosine]', control: { of: 'bm25', kind: 'random-parents' } } : arm,
  );
  const failures = [{ name: '*_broken', description: '', code: 'QUERY', message: 'no & such turn' }];
  expect(renderLatex({ ...result, name: 'my_sample', arms, failures })).toBe(String.raw`% \usepackage{booktabs}
\begin{table}
\centering
\caption{my\_sample on sample-threads, test}
\label{tab:my-sample}
\begin{tabular}{lr@{ }lr@{ }l}
\toprule
arm & \multicolumn{2}{c}{mrr@10} & \multicolumn{2}{c}{recall@10} \\
\midrule
newest \textbar{} \textless{}first\textgreater{} & .353$^{\downarrow}$ & {\footnotesize [.33, .38]} & .099 & {\footnotesize [.00, .20]} \\
\emph{bm25} & .496 & {\footnotesize [.47, .52]} & .100 & {\footnotesize [.08, .11]} \\
\quad {}[cosine] & 1.000 & {\footnotesize [.98, 1.00]} & .200$^{\uparrow}$ & {\footnotesize [.15, .24]} \\
\midrule
{}*\_broken & \multicolumn{4}{l}{\emph{failed}} \\
\bottomrule
\end{tabular}

\smallskip
{\footnotesize On mrr@10, newest \textbar{} \textless{}first\textgreater{} is worse than bm25. \\
$\uparrow$ better, $\downarrow$ worse than bm25, said only where the corrected p is below .05; no mark: undecided. \\
p: paired sign-flip permutation test (10,000 samples), clustered by conversation, corrected by Holm over the arms, null controls among themselves. \\
Where .05 is within the Monte Carlo error of p, more samples are drawn, up to 1,000,000. \\
5 conversations cannot decide 1 comparison of null controls: the smallest possible p is .063. \\
Brackets: 95 \% cluster-robust t intervals (fewer than 20 conversations). 10 queries in 5 conversations. \\
Intervals of few conversations cover less than 95 \% where their sizes are skewed: .88 to .91 for .95. \\
failed: *\_broken, QUERY: no \& such turn \\
Experiment my\_sample (3f9a1c20).\par}
\end{table}
`);
});

test('braces are balanced whatever the names are', () => {
  const result = buildHandmadeResult();
  const arms = result.arms.map((arm) => ({ ...arm, name: `${arm.name} }{\\$%` }));
  const text = renderLatex({ ...result, baseline: 'bm25 }{\\$%', arms });
  const bare = text.replace(/\\[{}%$&#_\\]/g, '').replace(/^%.*$/gm, '');
  let depth = 0;
  for (const character of bare) {
    depth += character === '{' ? 1 : character === '}' ? -1 : 0;
    expect(depth).toBeGreaterThanOrEqual(0);
  }
  expect(depth).toBe(0);
});

test('where the baseline failed it stands below the arms', () => {
  const text = renderLatex(withFailedBaseline(buildHandmadeResult()));
  expect(text).toContain('cosine & 1.000 & {\\footnotesize [.98, 1.00]}');
  expect(text).toContain('\\midrule\nbm25 & \\multicolumn{4}{l}{\\emph{failed}} \\\\\n\\bottomrule');
  expect(text).toContain('No arm is compared with the baseline, bm25, which failed.');
  expect(text).not.toMatch(/arrow\$|\\emph\{bm25\}/);
});
