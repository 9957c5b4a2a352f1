import type { ExperimentResult, MetricPassport } from '../../measure/result.ts';
import { type Content, html, type Markup } from '../page/markup.ts';
import { formatDecimal } from './format.ts';

/** The exact definition of each metric's figures; nothing if the run has none. */
export function renderPassports({ metrics, passports }: ExperimentResult): Content {
  const entries = metrics.flatMap((metric, at) => {
    const passport = passports[metric];
    return passport === undefined ? [] : [renderPassportCard(passport, at)];
  });
  return entries.length === 0
    ? ''
    : html`
<section id="passports"><h2>What the metrics are</h2>
<p class="legend">Figures whose entries differ here must not be compared.</p>
<div class="passports">${entries}</div>
</section>`;
}

function renderPassportCard(passport: MetricPassport, at: number): Markup {
  const { metric } = passport;
  return html`
<section id="passport-${at}" class="passport"><h3>${metric}</h3>
<dl>${listPassportEntries(passport).map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}
<div><dt>${nameJudgedShare(passport)}</dt><dd>${formatDecimal(passport.judgedAt, 3)} of the ${passport.tokens === undefined ? `first ${passport.cutoff ?? 10}` : 'turns within the budget'}</dd></div></dl></section>`;
}

/** `judged@10`: the share of judged turns that a metric looks at. */
export function nameJudgedShare({ metric, cutoff, tokens }: MetricPassport): string {
  return `judged@${tokens === undefined ? (cutoff ?? 10) : (metric.split('@')[1] as string)}`;
}

function listPassportEntries(passport: MetricPassport): [string, Content][] {
  const { definition, ties, granularity, cutoff, relevantGrade, queries, unanswerable, dataHash } = passport;
  const counted = passport.unanswerableAre === 'counted' ? 'counted' : 'left out';
  return [
    ['definition', definition],
    ['equal scores', ties],
    ['a hit is', granularity === 'turn' ? 'a relevant turn' : `a turn of a relevant ${granularity}`],
    ['relevant', `grade ${relevantGrade} or above`],
    ['cut-off', cutoff === null ? 'none' : String(cutoff)],
    ['queries', String(queries)],
    ['unanswerable', unanswerable === 0 ? 'none' : `${unanswerable} without a relevant turn, ${counted}`],
    ['unjudged turns', passport.judgedOnly ? 'taken out of the rankings' : 'stay in the rankings'],
    ...(passport.tokens === undefined ? [] : [['tokens', passport.tokens] satisfies [string, Content]]),
    ...(passport.highestGrade === undefined
      ? []
      : [['highest grade', String(passport.highestGrade)] satisfies [string, Content]]),
    ['data', html`<code>${dataHash.slice(0, 12)}</code>`],
  ];
}
