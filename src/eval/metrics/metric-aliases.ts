import { ValidationError } from '../../core/errors/errors.ts';
import { type MetricParts, splitMetricId } from './metric-id.ts';

/**
 * Names of other programs by our metric: those of trec_eval (`recip_rank`), ir_measures (`R`, `AP`) and ranx (`hit_rate`), in lower case, letters only. Values
 * are the same here and there.
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

/** Those among {@link DIFFERENT} that differ only without a cutoff. */
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

/** What `nDCG(dcg=...)` of ir_measures chooses. */
const GAINS: Readonly<Record<string, string>> = { log2: 'ndcg', 'exp-log2': 'ndcg_burges' };

interface TranslatedEntries {
  readonly own: string;
  readonly entries: readonly string[];
}

/** The entries of ir_measures as ours: `rel=2` stays, `p=0.8` is the parameter itself; an entry that has no meaning stays, and is refused as one of ours. */
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
 * The metric with this name in another program, as it is written here: `P_10` is `p@10`, `nDCG@10` is `ndcg@10`, `AP(rel=2)@100` is `map(rel=2)@100`.
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
