import { type Content, html, type Markup } from '../../../core/text/format.ts';
import { freezeDeeply } from '../../../core/values/once.ts';
import type { ArmConservation } from '../../measure/conservation.ts';
import type {
  ArmResult,
  Comparison,
  ExperimentResult,
  Inadmissible,
  MetricPassport,
  SliceSummary,
  StepEffect,
} from '../../measure/result.ts';
import { describeUndecidable } from './decision.ts';
import { estimate, formatDecimal, formatProbability, formatSigned, formatSignificant } from './format.ts';
import { countConversations, describeUnresolved, listUnresolved } from './legend.ts';
import { type PlainCell, renderPlainTable } from './plain-table.ts';

type SlicedArm = { readonly name: string; readonly slices: SliceSummary };

/** The arms whose queries have slices. */
export function listSlicedArms(arms: readonly ArmResult[]): SlicedArm[] {
  return arms.flatMap(({ name, slices }) => (slices === undefined ? [] : [{ name, slices }]));
}

const count = (value: number): PlainCell => ({ text: String(value), value });

/** `.250`; a dash without a relevant turn. */
function share({ inadmissible, relevant }: Inadmissible): PlainCell {
  if (relevant === 0) return { text: '—' };
  return { text: formatDecimal(inadmissible / relevant, 3), value: inadmissible / relevant };
}

const words = (...names: string[]) => names.map((name) => ({ name, numeric: false }));
const numbers = (...names: string[]) => names.map((name) => ({ name, numeric: true }));

/** The policy of each arm, the size of its slices, and what they leave out. */
export function renderSliceTable(arms: readonly ArmResult[]): Markup {
  const rows = listSlicedArms(arms).map(({ name, slices }) => ({
    arm: name,
    cells: [
      ...[{ text: name }, { text: slices.policyRef }],
      ...[{ text: formatDecimal(slices.meanTurns, 1), value: slices.meanTurns }, share(slices)],
      ...[slices.unanchored, slices.refused].map(count),
    ],
  }));
  const headings = [
    ...words('arm', 'policy'),
    ...numbers('turns a query', 'inadmissible share', 'unanchored queries', 'refused queries'),
  ];
  return renderPlainTable({ label: 'slices', headings, rows });
}

/** The share of the relevant turns that was inadmissible, by level. */
export function renderSliceStrata(arms: readonly ArmResult[]): Markup {
  const rows = listSlicedArms(arms).flatMap(({ name, slices }) =>
    Object.entries(slices.strata).flatMap(([stratum, levels]) =>
      Object.entries(levels).map(([level, counts]) => ({
        arm: name,
        cells: [{ text: name }, { text: stratum }, { text: level }, count(counts.relevant), share(counts)],
      })),
    ),
  );
  const headings = [...words('arm', 'stratum', 'level'), ...numbers('relevant turns', 'inadmissible share')];
  return renderPlainTable({ label: 'inadmissible turns by stratum', headings, rows });
}

/** A sentence for each arm with slices, for a terminal. */
export function describeSlices(arms: readonly ArmResult[]): string[] {
  return listSlicedArms(arms).map(({ name, slices }) => {
    const { meanTurns, inadmissible, relevant, unanchored, refused, queries } = slices;
    return `slices of ${name}: ${formatDecimal(meanTurns, 1)} turns a query; ${inadmissible} of ${relevant} relevant turns inadmissible; of ${queries} queries ${unanchored} unanchored, ${refused} refused`;
  });
}

/** A note on the times; null if nothing was timed, or no other arm ran at the same time. */
export function describeLatency({ arms, armsAtOnce }: Pick<ExperimentResult, 'arms' | 'armsAtOnce'>): string | null {
  if (armsAtOnce === 1 || arms.every(({ latency }) => latency === null)) return null;
  return `Up to ${armsAtOnce} arms were timed beside each other, so these are not the times of an arm alone.`;
}

/**
 * Milliseconds a query as texts: a row a component, a column an arm that was timed, `p50 / p95 / p99`; a dash for a
 * component that an arm lacks.
 */
export function listLatencyRows(arms: readonly ArmResult[]): string[][] {
  const timed = arms.flatMap(({ name, latency }) => (latency === null ? [] : [{ name, latency }]));
  // The final components of every arm come last, also if the first arm lacks them.
  const last = Object.keys(timed[0]?.latency ?? {}).slice(-2);
  const steps = new Set(timed.flatMap(({ latency }) => Object.keys(latency)).filter((name) => !last.includes(name)));
  const rows = [...steps, ...last].map((component) => [
    component,
    ...timed.map(({ latency }) => {
      const found = latency[component];
      if (found === undefined) return '—';
      return [found.p50, found.p95, found.p99].map((milliseconds) => formatDecimal(milliseconds, 2)).join(' / ');
    }),
  ]);
  return [['p50 / p95 / p99 ms', ...timed.map(({ name }) => name)], ...rows];
}

/** Milliseconds a query of every arm that was timed, a row an arm and component. */
export function renderLatencyTable(arms: readonly ArmResult[]): Markup {
  const rows = arms.flatMap(({ name, latency }) =>
    Object.entries(latency ?? {}).map(([component, { p50, p95, p99 }]) => ({
      arm: name,
      cells: [
        { text: name },
        { text: component },
        ...[p50, p95, p99].map((milliseconds) => ({ text: formatSignificant(milliseconds), value: milliseconds })),
      ],
    })),
  );
  const words = ['arm', 'component'].map((name) => ({ name, numeric: false }));
  const numbers = ['p50 ms', 'p95 ms', 'p99 ms'].map((name) => ({ name, numeric: true }));
  return renderPlainTable({ label: 'latency', headings: [...words, ...numbers], rows });
}

function formatEffect({ step, queries, tokens }: StepEffect): string {
  const shown = tokens && [tokens.shown, tokens.of].map((mean) => formatDecimal(mean, 0)).join(' of ');
  return `${step} ${queries}${shown === undefined ? '' : ` (${shown} tokens a query)`}`;
}

/** The queries that steps change, as texts: the arm, `decay 466, pack 467`, the number in all, and stated reasons. */
export function listStepRows(arms: readonly ArmResult[]): string[][] {
  return arms.flatMap(({ name, steps = [] }) => {
    const reasons = steps.flatMap(({ step, reason }) => (reason === undefined ? [] : [`${step}: ${reason}`]));
    const [first] = steps;
    return first === undefined
      ? []
      : [[name, steps.map(formatEffect).join(', '), String(first.of), reasons.join('; ')]];
  });
}

/** The headings of {@link listStepRows}, and the meaning of its counts. */
export const STEP_HEADINGS = freezeDeeply(['arm', 'queries changed', 'of', 'reasons']);
export const STEP_LEGEND =
  'Queries that each step changes: those with other first ranks after the step than before it. A fusion counts where no column alone gives the same ranks, a source where it finds a turn, a filter or slice where it keeps a turn back.';

/** The queries that each step of an arm changes. */
export function renderStepTable(arms: readonly ArmResult[]): Markup {
  const rows = listStepRows(arms).map((texts) => ({
    arm: texts[0] as string,
    cells: texts.map((text) => ({ text })),
  }));
  return renderPlainTable({ label: 'what steps change', headings: words(...STEP_HEADINGS), rows });
}

/** A sentence for each step that changes nothing, for a terminal. */
export function describeIdleSteps(arms: readonly ArmResult[]): string[] {
  return arms.flatMap(({ name, steps = [] }) =>
    steps.flatMap(({ step, of, reason }) =>
      reason === undefined ? [] : [`step ${step} of ${name} changes none of ${of} queries: ${reason}`],
    ),
  );
}

/** The arms that have a curve of evidence against tokens. */
export function listCurves(arms: readonly ArmResult[]) {
  return arms.flatMap(({ name, evidence }) => (evidence === undefined ? [] : [{ name, evidence }]));
}

/** Evidence by budget as texts: a row an arm, with the area and, last, the area under its ceiling. */
export function listEvidenceRows(arms: readonly ArmResult[]): string[][] {
  const curves = listCurves(arms);
  const rows = curves.map(({ name, evidence: { recall, area, ceilingArea } }) => [
    name,
    ...[...recall, area].map((one) => estimate(one, formatDecimal, 2)),
    formatDecimal(ceilingArea.mean, 3),
  ]);
  return [['evidence within', ...(curves[0]?.evidence.budgets ?? []).map(String), 'area', 'ceiling'], ...rows];
}

/** Evidence by budget, a row an arm and a further one for its ceiling. */
export function renderEvidenceTable(arms: readonly ArmResult[]): Markup {
  const curves = listCurves(arms);
  const rows = curves.flatMap(({ name, evidence: { recall, ceiling, area, ceilingArea } }) =>
    [
      { label: name, estimates: [...recall, area] },
      { label: `ceiling of ${name}`, estimates: [...ceiling, ceilingArea] },
    ].map(({ label, estimates }) => ({
      arm: name,
      cells: [{ text: label }, ...estimates.map((one) => ({ text: estimate(one, formatDecimal, 2), value: one.mean }))],
    })),
  );
  const budgets = (curves[0]?.evidence.budgets ?? []).map((budget) => `${budget} tokens`);
  const headings = [{ name: 'arm', numeric: false }, ...[...budgets, 'area'].map((name) => ({ name, numeric: true }))];
  return renderPlainTable({ label: 'evidence against tokens', headings, rows });
}

/** The headings of {@link listConservationRows}. */
export const CONSERVATION_HEADINGS = freezeDeeply([
  ...['arm', 'turns of', 'turns', 'magnitude', 'energy', 'coherence', 'information'],
  ...['magnitude / memory', 'coherence / memory', 'information / memory'],
]);

/** The meaning of the rows of {@link listConservationRows}. */
export function describeConservation({ k, weights }: Pick<ArmConservation, 'k' | 'weights'>): string {
  const weigh = weights === 'uniform' ? 'the same' : 'its salience';
  return `Means over the queries, of the turns that each may see at its moment (memory), its candidates (pool), the first ${k} ranks, and the turns that a step pack keeps (context). Magnitude is the mean length of the embeddings, coherence the squared length of their mean direction, energy half of it, information in nats the entropy of the weights. Each turn weighs ${weigh}; a set without a turn counts as 0. A ratio divides the mean by that of the memory.`;
}

/** The name of a set of turns for a reader. */
export function nameConservationSet(set: string, k: number): string {
  return set === 'first' ? `first ${k}` : set;
}

/** The conservation of what the queries were shown: a row an arm and set. */
export function listConservationRows(
  arms: readonly ArmResult[],
): { readonly arm: string; readonly cells: PlainCell[] }[] {
  return arms.flatMap(({ name, conservation }) =>
    Object.entries(conservation?.means ?? {}).map(([set, { turns, magnitude, energy, coherence, information }]) => {
      const memory = conservation?.means.memory;
      const divide = (mean: number, whole = 0): PlainCell =>
        set === 'memory' || whole === 0 ? { text: '—' } : { text: formatDecimal(mean / whole, 3), value: mean / whole };
      const cells: PlainCell[] = [
        ...[{ text: name }, { text: nameConservationSet(set, conservation?.k ?? 0) }],
        { text: formatDecimal(turns.mean, 1), value: turns.mean },
        ...[magnitude, energy, coherence, information].map((one) => ({
          text: estimate(one, formatDecimal, 3),
          value: one.mean,
        })),
        divide(magnitude.mean, memory?.magnitude.mean),
        divide(coherence.mean, memory?.coherence.mean),
        divide(information.mean, memory?.information.mean),
      ];
      return { arm: name, cells };
    }),
  );
}

/** The rows of {@link listConservationRows} as a table. */
export function renderConservationTable(arms: readonly ArmResult[]): Markup {
  const headings = CONSERVATION_HEADINGS.map((name, at) => ({ name, numeric: at > 1 }));
  return renderPlainTable({
    label: 'conservation of what queries are shown',
    headings,
    rows: listConservationRows(arms),
  });
}

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

/** An arm minus one of its null controls, in each metric. */
interface StructureRow {
  readonly arm: string;
  readonly control: string;
  readonly cells: readonly { readonly difference: number; readonly text: string }[];
}

/** The meaning of the word in a cell. */
export const SURVIVES =
  'survives: arm and control are both better than the baseline, and the arm is not better than its control, so the gain is not due to what the control destroys.';

/** The null controls that an arm's gain survives, each with the metrics unless it is all of them. */
export function describeSurvivals({ structure }: ArmResult, metrics: readonly string[]): string[] {
  if (structure === null) return [];
  return structure.survives.map((kind) => {
    const where = metrics.filter((metric) => structure.metrics[metric]?.survives.includes(kind));
    return where.length === metrics.length ? kind : `${kind} (${where.join(', ')})`;
  });
}

function formatControlCell({ difference, correctedP }: Comparison, bound: number, survives: boolean): string {
  return `${estimate(difference, formatSigned, 2)}, p ${formatProbability(correctedP, bound)}${survives ? ', survives' : ''}`;
}

/** A row for each arm and control of it. */
export function listStructureRows({ arms, metrics, statistics }: ExperimentResult): StructureRow[] {
  return arms.flatMap(({ name, structure }) => {
    if (structure === null) return [];
    const kinds = Object.keys(structure.metrics[metrics[0] as string]?.controls ?? {});
    return kinds.map((control) => ({
      arm: name,
      control,
      cells: metrics.flatMap((metric) => {
        const test = structure.metrics[metric];
        const comparison = test?.controls[control];
        if (test === undefined || comparison === undefined) return [];
        const text = formatControlCell(comparison, 1 - statistics.level, test.survives.includes(control));
        return { difference: comparison.difference.mean, text };
      }),
    }));
  });
}

/** The arms against their null controls; sorts by every column. */
export function renderStructureTable(result: ExperimentResult): Content {
  return renderPlainTable({
    label: 'null controls',
    headings: [
      { name: 'arm', numeric: false },
      { name: 'control', numeric: false },
      ...result.metrics.map((name) => ({ name, numeric: true })),
    ],
    rows: listStructureRows(result).map(({ arm, control, cells }) => ({
      arm,
      cells: [{ text: arm }, { text: control }, ...cells.map(({ difference, text }) => ({ text, value: difference }))],
    })),
  });
}

/** Comparisons of the table that conversations and samples leave undecided; empty without any. */
export function describeStructureReach({ arms, metrics, statistics, queries }: ExperimentResult): string[] {
  const listControlKinds = ({ structure }: ArmResult) =>
    Object.keys(structure?.metrics[metrics[0] as string]?.controls ?? {});
  const counts = [...new Set(arms.map((arm) => listControlKinds(arm).length))].sort((a, b) => a - b);
  const differences = arms.flatMap((arm) =>
    listControlKinds(arm).map((kind) => ({
      name: `${arm.name} minus ${kind}`,
      comparisons: Object.fromEntries(
        Object.entries(arm.structure?.metrics ?? {}).flatMap(([metric, { controls }]) => {
          const comparison = controls[kind];
          return comparison === undefined ? [] : [[metric, comparison]];
        }),
      ),
    })),
  );
  return [
    ...counts.flatMap((count) =>
      describeUndecidable(statistics, countConversations(queries), count, 'comparisons with null controls'),
    ),
    ...describeUnresolved(listUnresolved(differences, metrics), statistics),
  ];
}

/** The meaning of a placebo, where the table has one. */
export function describePlacebos({ arms }: ExperimentResult): string[] {
  if (!arms.some(({ control }) => control?.kind === 'placebo')) return [];
  return [
    'A placebo shows as many tokens as its arm, of unrelated turns; relevance of these is 0 by definition, so compare measures of answers.',
  ];
}

/** The text above the table. */
export function renderStructureLegend(result: ExperimentResult): Content {
  const { baseline, failures } = result;
  const failed = failures.some(({ name }) => name === baseline);
  return html`
<p class="legend">Arms minus their null controls, each an arm of the same options on structure that was destroyed at random; p corrected over the controls of an arm. ${SURVIVES} The baseline is ${baseline}${failed ? ', which failed' : ''}. ${[...describePlacebos(result), ...describeStructureReach(result)].join(' ')}</p>`;
}
