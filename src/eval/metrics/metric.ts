import { RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { Registry } from '../../core/validation/registry.ts';
import { averagePrecision } from './average-precision.ts';
import { binaryPreference } from './binary-preference.ts';
import { expectedReciprocalRank } from './expected-reciprocal-rank.ts';
import {
  countRanksWithin,
  type Direction,
  type JudgedRanking,
  type MetricFamily,
  withRelevantGrade,
} from './judged-ranking.ts';
import { ndcg, ndcgBurges } from './ndcg.ts';
import { precision, rPrecision } from './precision.ts';
import { rankBiasedPrecision } from './rank-biased-precision.ts';
import { recall, retrievedRelevant } from './recall.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { allEvidence, success } from './success.ts';
import { correctFirst, missingReplacement, stale } from './superseded.ts';

/** The parts of a metric as it is written: `name`, `name@10`, `name@500t`, `rbp(0.8)`, `map(rel=2)@100`. */
interface MetricParts {
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

/**
 * Names of other programs by our metric: those of trec_eval (`recip_rank`), ir_measures (`R`, `AP`) and ranx
 * (`hit_rate`), in lower case, letters only. Values are the same here and there.
 */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  mrr: ['mrr', 'rr', 'reciprank', 'reciprocalrank', 'meanreciprocalrank'],
  recall: ['recall', 'r', 'evidence'],
  all: ['all', 'allevidence'],
  p: ['p', 'prec', 'precision'],
  map: ['map', 'ap', 'mapcut', 'averageprecision', 'meanaverageprecision'],
  rprec: ['rprec', 'rprecision'],
  bpref: ['bpref', 'binarypreference'],
  success: ['success', 'hit', 'hitrate', 'hr'],
  ndcg: ['ndcg', 'ndcgcut'],
  ndcg_burges: ['ndcgburges'],
  rbp: ['rbp', 'rankbiasedprecision'],
  err: ['err', 'expectedreciprocalrank'],
  num_rel_ret: ['numrelret', 'relret'],
};

/** Names that mean something else there, as written, with the reason and the name to use. */
const DIFFERENT: Readonly<Record<string, readonly [reason: string, use: string]>> = {
  ERR: ['ir_measures computes it with grades 0 to 4 (gdeval); here the scale ends at its highest grade', 'err@k'],
  hits: ['in ranx it is the number of relevant documents; here a hit is 1 or 0', 'success@k'],
  rbp: ['ranx multiplies by the grade; here a document is relevant or not', 'rbp(0.8)'],
  P: ['trec_eval prints it at several cutoffs', 'one of them, such as P_10'],
  recall: ['trec_eval prints it at several cutoffs', 'one of them, such as recall_10'],
  success: ['trec_eval prints it at several cutoffs', 'one of them, such as success_5'],
  map_cut: ['trec_eval prints it at several cutoffs', 'one of them, such as map_cut_10, or map'],
  ndcg_cut: ['trec_eval prints it at several cutoffs', 'one of them, such as ndcg_cut_10, or ndcg'],
};

/** The members of {@link DIFFERENT} that differ only without a cutoff. */
const WITHOUT_CUTOFF: readonly string[] = ['P', 'recall', 'success', 'map_cut', 'ndcg_cut'];

/** Names of trec_eval, ir_measures and ranx that are not measured here, by the nearest name that is. */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  'recall@k': ['set_recall', 'SetR'],
  'p@k': ['set_P', 'set_relative_P', 'SetP', 'SetRelP', 'SetF', 'set_F', 'relative_P', 'relative_P_k', 'P_avgjg'],
  map: ['gm_map', 'infAP', 'set_map', 'SetAP', '11pt_avg', 'iprec_at_recall', 'IPrec', 'map_avgjg'],
  bpref: ['gm_bpref'],
  rprec: ['Rprec_mult', 'Rprec_mult_avgjg'],
  'p@k and recall@k': ['f1'],
  'ndcg@k': ['dcg'],
  'ndcg_burges@k': ['dcg_burges'],
  ndcg: ['Rndcg', 'ndcg_rel', 'G', 'binG', 'SDCG', 'alpha_nDCG', 'alpha_DCG', 'α_nDCG', 'α_DCG'],
  'rbp(0.8)': ['NRBP', 'nNRBP', 'INST', 'INSQ', 'Compat'],
  'err@k': ['NERR8', 'NERR9', 'NERR10', 'NERR11', 'ERR_IA', 'nERR_IA'],
  'p@10': ['Accuracy', 'BPM', 'P_IA', 'utility'],
  'recall@10': ['StRecall'],
  'map@100': ['AP_IA', 'MAP_IA'],
  num_rel_ret: [
    'num_q',
    'num_rel',
    'num_ret',
    'num_nonrel_judged_ret',
    'NumQ',
    'NumRel',
    'NumRet',
    'relstring',
    'runid',
  ],
  'the passport of a metric, which has judged@k': ['Judged'],
  'bpref, the preference measure': [
    ...['prefs_simp', 'prefs_pair', 'prefs_avgjg', 'prefs_avgjg_Rnonrel', 'prefs_simp_imp', 'prefs_pair_imp'],
    ...['prefs_avgjg_imp', 'prefs_simp_ret', 'prefs_pair_ret', 'prefs_avgjg_ret', 'prefs_avgjg_Rnonrel_ret'],
    ...['prefs_num_prefs_poss', 'prefs_num_prefs_ful', 'prefs_num_prefs_ful_ret'],
  ],
};

const nameOf: ReadonlyMap<string, string> = new Map(
  Object.entries(SPELLINGS).flatMap(([name, spellings]) => spellings.map((spelling) => [spelling, name] as const)),
);
const nearestOf: ReadonlyMap<string, string> = new Map(
  Object.entries(ABSENT).flatMap(([use, names]) => names.map((name) => [name, use] as const)),
);

function refuse(id: string, reason: string, use: string): never {
  throw new ValidationError(`metric has another meaning here: ${id} (${reason}); use ${use}`, { id });
}

/** `name_10`, `name.10` -> name and cutoff, where no `@` gives one. */
function splitTrecCutoff(parts: MetricParts): MetricParts {
  const [, name, cutoff] = /^(.*?)[_.](\d+)$/.exec(parts.name) ?? [];
  return parts.cutoff !== null || name === undefined ? parts : { ...parts, name, cutoff: cutoff as string };
}

/** The gains that `nDCG(dcg=...)` of ir_measures chooses. */
const GAINS: Readonly<Record<string, string>> = { log2: 'ndcg', 'exp-log2': 'ndcg_burges' };

interface TranslatedEntries {
  readonly own: string;
  readonly entries: readonly string[];
}

/**
 * The entries of ir_measures as ours: `rel=2` stays, `p=0.8` is the parameter itself; an entry that has no meaning
 * stays, and is refused as one of ours.
 */
function translateEntries(id: string, found: string, { name, entries }: MetricParts): TranslatedEntries {
  const kept: string[] = [];
  let own = found;
  for (const entry of entries) {
    const [key, value = ''] = entry.split('=').map((part) => part.trim()) as [string, string | undefined];
    const word = value.replace(/^(['"])(.*)\1$/, '$2');
    if (key === 'judged_only' && word.toLowerCase() === 'true')
      refuse(id, 'judged_only is no part of a metric', 'ragpp rescore --judged-only with the metric alone');
    if (key === 'judged_only' && word.toLowerCase() === 'false') continue;
    if (key === 'dcg' && found === 'ndcg' && Object.hasOwn(GAINS, word)) own = GAINS[word] as string;
    else if (key === 'p' || key === 'persistence') kept.unshift(value);
    else kept.push(entry);
  }
  if (name === 'RBP' && entries.length > 0 && entries.every((entry) => entry.startsWith('p')))
    refuse(id, 'ir_measures uses graded gains without rel', `RBP(rel=1,${entries.join(',')})`);
  return { own, entries: kept };
}

/**
 * The metric with this name in another program, as it is written here: `P_10` is `p@10`, `nDCG@10` is `ndcg@10`,
 * `AP(rel=2)@100` is `map(rel=2)@100`.
 *
 * @returns undefined for an unknown name.
 * @throws ValidationError for a name that means something else in the other program, or that is not measured here.
 */
export function translateMetric(id: string): string | undefined {
  const parts = splitTrecCutoff(splitMetricId(id));
  const { name, cutoff } = parts;
  const different = Object.hasOwn(DIFFERENT, name) ? DIFFERENT[name] : undefined;
  if (different !== undefined && (cutoff === null || !WITHOUT_CUTOFF.includes(name))) refuse(id, ...different);
  // NumRet(rel=1) of ir_measures counts relevant documents, NumRet all.
  const countsRelevant = name === 'NumRet' && parts.entries.some((entry) => entry.startsWith('rel'));
  const absent = countsRelevant
    ? undefined
    : (nearestOf.get(name) ?? nearestOf.get(splitMetricId(id).name) ?? nearestOf.get(name.replace(/_\d.*$/, '')));
  if (absent !== undefined)
    throw new ValidationError(`metric is not measured here: ${id}; use ${absent}`, { id, use: absent });
  const found = countsRelevant ? 'num_rel_ret' : nameOf.get(name.toLowerCase().replace(/[-_ ]/g, ''));
  if (found === undefined) return undefined;
  const { own, entries } = translateEntries(id, found, parts);
  return `${own}${entries.length === 0 ? '' : `(${entries.join(',')})`}${cutoff === null ? '' : `@${cutoff}`}`;
}

/** Every metric: to add one takes its file and a line here. */
export const METRICS = new Registry<string, MetricFamily>([
  reciprocalRank,
  recall,
  precision,
  averagePrecision,
  rPrecision,
  binaryPreference,
  success,
  allEvidence,
  ndcg,
  ndcgBurges,
  rankBiasedPrecision,
  expectedReciprocalRank,
  retrievedRelevant,
  stale,
  missingReplacement,
  correctFirst,
]);

/** A metric with its cutoff. */
export interface Metric {
  /** As configs and columns write it, for example `mrr@10`; a name of another program in the spelling used here. */
  readonly id: string;
  /** A description in one sentence. */
  readonly definition: string;
  /** k in ranks, null without a cutoff. */
  readonly cutoff: number | null;
  /** The budget of `recall@500t` in tokens, null without one. */
  readonly tokenBudget: number | null;
  /** The lowest relevant grade that the name states, as `map(rel=2)` does; null where the data's own counts. */
  readonly relevantGrade: number | null;
  /** True if the highest grade of the scale affects the value. */
  readonly readsScale: boolean;
  /** True if the value depends on the superseded documents. */
  readonly readsSuperseded: boolean;
  readonly better: Direction;
  readonly aggregate: 'mean' | 'sum';
  /**
   * @throws ValidationError for a token budget if the tokens of the ranking are unknown, and for a metric of superseded
   *   documents if those are.
   */
  compute(ranking: JudgedRanking): number;
}

function findMetricFamily(id: string, name: string): MetricFamily {
  const family = METRICS.find(name);
  if (family !== undefined) return family;
  const nearest = METRICS.nearest(name.toLowerCase());
  const known = METRICS.names;
  if (nearest === undefined)
    throw new ValidationError(`unknown metric: ${id}; use one of ${known.join(', ')}`, { id, known });
  throw new ValidationError(`unknown metric: ${id}; use ${suggestMetric(id, nearest)}`, { id, nearest });
}

/** A metric's id with the intended cutoff, or with an example of one. */
function suggestMetric(id: string, name: string): string {
  const { cutoff } = splitMetricId(id);
  const { cutoff: takes, parameter } = METRICS.find(name) as MetricFamily;
  const start = parameter === undefined ? name : `${name}(${parameter.example})`;
  if (takes === 'none' || (takes === 'optional' && cutoff === null)) return start;
  return `${start}@${cutoff ?? '10'}`;
}

interface Cutoff {
  /** Infinite without a cutoff. */
  readonly value: number;
  readonly unit: 'ranks' | 'tokens';
}

function parseCutoff(id: string, { name, cutoff: takes, ranksOnly }: MetricFamily, cutoff: string | null): Cutoff {
  if (cutoff === null) {
    if (takes === 'required')
      throw new ValidationError(`metric has no cutoff: ${id}; use one, such as ${name}@10`, { id });
    return { value: Number.POSITIVE_INFINITY, unit: 'ranks' };
  }
  if (takes === 'none') throw new ValidationError(`metric has no cutoffs: ${id}; use ${name}`, { id });
  const [, digits, unit] = /^([1-9]\d*)(t?)$/.exec(cutoff) ?? [];
  if (digits === undefined)
    throw new ValidationError(
      `cutoff of a metric is not a whole number from 1, or tokens such as 500t: ${id}; use one, such as ${name}@10`,
      { id },
    );
  if (unit === 't' && ranksOnly)
    throw new ValidationError(`metric has no token budget: ${id}; use ranks, such as ${name}@10`, { id });
  return { value: Number(digits), unit: unit === 't' ? 'tokens' : 'ranks' };
}

/** `0.8`, or `p=0.8`. */
function readNumber(entry: string): number {
  return Number(entry.replace(/^p=/, ''));
}

/** Reads the entries in brackets: the parameter of the metric, and `rel=2`. */
function parseEntries(id: string, { name, parameter, graded }: MetricFamily, entries: readonly string[]) {
  let relevantGrade: number | null = null;
  let value = Number.NaN;
  for (const entry of entries) {
    const [, grade] = /^rel=(\d+)$/.exec(entry) ?? [];
    if (grade !== undefined && graded)
      throw new ValidationError(`metric uses grades and has no rel: ${id}; use ${name}`, { id });
    if (grade !== undefined && Number(grade) > 0 && relevantGrade === null) relevantGrade = Number(grade);
    else if (grade === undefined && parameter?.accepts(readNumber(entry)) && Number.isNaN(value))
      value = readNumber(entry);
    else {
      const example = parameter === undefined ? `${name}(rel=2)` : `${name}(${parameter.example})`;
      throw new ValidationError(
        `metric does not take ${entry}: ${id}; use ${graded ? name : `${name} or ${example}`}`,
        {
          id,
          entry,
        },
      );
    }
  }
  if (parameter !== undefined && Number.isNaN(value))
    throw new ValidationError(
      `metric has no ${parameter.name}, ${parameter.range}: ${id}; use one, such as ${name}(${parameter.example})`,
      { id },
    );
  return { relevantGrade, value };
}

function describeReach({ value, unit }: Cutoff): string {
  if (!Number.isFinite(value)) return '';
  return unit === 'ranks' ? ` among the first ${value}` : ` within the first ${value} tokens`;
}

function formatMetricId(name: string, value: number, relevantGrade: number | null, cutoff: string | null): string {
  const entries = [
    ...(Number.isNaN(value) ? [] : [String(value)]),
    ...(relevantGrade === null ? [] : [`rel=${relevantGrade}`]),
  ];
  return `${name}${entries.length === 0 ? '' : `(${entries.join(',')})`}${cutoff === null ? '' : `@${cutoff}`}`;
}

/**
 * The prefix that fits a token budget, as a whole ranking. The best possible ranking that nDCG divides by keeps its length: it is then the same for every
 * system, however many documents of a system fit.
 */
function cutAtBudget(id: string, ranking: JudgedRanking, budget: number): JudgedRanking {
  const { tokens, grades, replacements } = ranking;
  if (tokens === null)
    throw new ValidationError(`metric needs the tokens of each document: ${id}; pass tokens to the evaluation`, { id });
  const k = countRanksWithin(tokens, budget);
  return {
    ...ranking,
    grades: grades.subarray(0, k),
    tokens: tokens.subarray(0, k),
    replacements: replacements?.subarray(0, k) ?? null,
  };
}

function buildMetric(id: string, { name, entries, cutoff: written }: MetricParts): Metric {
  const family = findMetricFamily(id, name);
  const cutoff = parseCutoff(id, family, written);
  const { relevantGrade, value } = parseEntries(id, family, entries);
  const own = formatMetricId(name, value, relevantGrade, written);
  const reach = Number.isFinite(cutoff.value) ? cutoff.value : null;
  return {
    id: own,
    definition: family.define(describeReach(cutoff), cutoff.value, value),
    cutoff: cutoff.unit === 'ranks' ? reach : null,
    tokenBudget: cutoff.unit === 'tokens' ? reach : null,
    relevantGrade,
    readsScale: family.readsScale ?? false,
    readsSuperseded: family.readsSuperseded ?? false,
    better: family.better ?? 'higher',
    aggregate: family.aggregate,
    compute: (ranking) => {
      if (family.readsSuperseded && ranking.replacements === null)
        throw new ValidationError(
          `metric needs the superseded documents of each query: ${own}; pass superseded to the evaluation, or leave the metric out`,
          { id: own },
        );
      const graded = relevantGrade === null ? ranking : withRelevantGrade(ranking, relevantGrade);
      return cutoff.unit === 'ranks'
        ? family.compute(graded, cutoff.value, value)
        : family.compute(cutAtBudget(own, graded, cutoff.value), Number.POSITIVE_INFINITY, value);
    },
  };
}

/**
 * The metric of a name: `ndcg@10`, `recall@500t` (within a budget of tokens), `rbp(0.8)`, `map(rel=2)`. Names of trec_eval, ir_measures and ranx are translated.
 *
 * @throws ValidationError for an unknown name, naming the nearest known one; for a cutoff that is wrong, missing or too much; and for a name that means
 * something else in the program that it comes from.
 */
export function parseMetric(id: string): Metric {
  const parts = splitMetricId(id);
  if (METRICS.find(parts.name) !== undefined) return buildMetric(id, parts);
  return buildMetric(id, splitMetricId(translateMetric(id) ?? id));
}

/** The better end of a metric; `higher` for an unknown one, of a plugin in a stored result. */
export function readDirection(id: string): Direction {
  return METRICS.find(splitMetricId(id).name)?.better ?? 'higher';
}

/** A metric that is a mean over the queries. @throws ValidationError as {@link parseMetric} does, and for one that is a sum. */
export function parseMean(id: string): Metric {
  const metric = parseMetric(id);
  if (metric.aggregate === 'sum')
    throw new ValidationError(`metric is a sum over the queries, not a mean: ${id}; use recall@k`, { id });
  return metric;
}

/**
 * The name used here of a metric by any name that is accepted, for the schema of a config.
 *
 * @param context of the schema, which gets a fault for what is no metric.
 */
export function readMetricName(
  id: string,
  context: { addIssue(issue: { readonly code: 'custom'; readonly message: string }): void },
): string {
  try {
    return parseMean(id).id;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    context.addIssue({ code: 'custom', message: `a metric (${error.message})` });
    return id;
  }
}
