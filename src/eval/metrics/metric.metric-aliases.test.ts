import { expect, test } from 'vitest';
import { parseMetric, translateMetric } from './metric.ts';

/** Every name that `pytrec_eval.supported_measures` and its nicknames have (trec_eval 9.0.8), but `runid`-like counts. */
const TREC_EVAL = {
  same: {
    recip_rank: 'mrr',
    P_10: 'p@10',
    recall_10: 'recall@10',
    map: 'map',
    map_cut_10: 'map@10',
    Rprec: 'rprec',
    bpref: 'bpref',
    ndcg: 'ndcg',
    ndcg_cut_10: 'ndcg@10',
    success_5: 'success@5',
    num_rel_ret: 'num_rel_ret',
    'P.5': 'p@5',
    'ndcg_cut.20': 'ndcg@20',
  },
  different: ['P', 'recall', 'success', 'map_cut', 'ndcg_cut'],
  absent: [
    ...['11pt_avg', 'G', 'Rndcg', 'Rprec_mult', 'binG', 'gm_bpref', 'gm_map', 'infAP', 'iprec_at_recall', 'ndcg_rel'],
    ...['num_nonrel_judged_ret', 'num_q', 'num_rel', 'num_ret', 'relative_P', 'relstring', 'runid', 'set_F', 'set_P'],
    ...['set_map', 'set_recall', 'set_relative_P', 'utility', 'P_avgjg', 'Rprec_mult_avgjg', 'map_avgjg'],
    ...['prefs_avgjg', 'prefs_avgjg_Rnonrel', 'prefs_avgjg_Rnonrel_ret', 'prefs_avgjg_imp', 'prefs_avgjg_ret'],
    ...['prefs_num_prefs_ful', 'prefs_num_prefs_ful_ret', 'prefs_num_prefs_poss', 'prefs_pair', 'prefs_pair_imp'],
    ...['prefs_pair_ret', 'prefs_simp', 'prefs_simp_imp', 'prefs_simp_ret'],
    ...['iprec_at_recall_0.10', 'relative_P_5', 'set_F_1', 'Rprec_mult_0.20'],
  ],
};

/** Every name of `ir_measures.measures.registry` (0.4.3). */
const IR_MEASURES = {
  same: {
    AP: 'map',
    'AP@100': 'map@100',
    'AP(rel=2)@100': 'map(rel=2)@100',
    MAP: 'map',
    Bpref: 'bpref',
    BPref: 'bpref',
    nDCG: 'ndcg',
    NDCG: 'ndcg',
    'nDCG@10': 'ndcg@10',
    "nDCG(dcg='exp-log2')@10": 'ndcg_burges@10',
    "nDCG(dcg='log2')@10": 'ndcg@10',
    'NumRet(rel=1)': 'num_rel_ret(rel=1)',
    'NumRet(rel=2)': 'num_rel_ret(rel=2)',
    NumRelRet: 'num_rel_ret',
    'P@5': 'p@5',
    'P(rel=2)@5': 'p(rel=2)@5',
    'Precision@5': 'p@5',
    'R@10': 'recall@10',
    'Recall@10': 'recall@10',
    'RBP(rel=1,p=0.8)': 'rbp(0.8,rel=1)',
    'RBP(p=0.5,rel=2)@10': 'rbp(0.5,rel=2)@10',
    Rprec: 'rprec',
    RPrec: 'rprec',
    RR: 'mrr',
    MRR: 'mrr',
    'RR@10': 'mrr@10',
    'RR(judged_only=False)@10': 'mrr@10',
    'Success@5': 'success@5',
  },
  different: ['ERR', 'ERR@10', 'RBP(p=0.8)', 'RR(judged_only=True)@10'],
  absent: [
    ...['AP_IA', 'Accuracy', 'BPM', 'Compat', 'ERR_IA', 'INSQ', 'INST', 'IPrec', 'IPrec@0.1', 'Judged', 'Judged@10'],
    ...['MAP_IA', 'NERR10', 'NERR11', 'NERR8', 'NERR9', 'NRBP', 'NumQ', 'NumRel', 'NumRet', 'P_IA', 'SDCG', 'SetAP'],
    ...['SetF', 'SetP', 'SetR', 'SetRelP', 'StRecall', 'alpha_DCG', 'alpha_nDCG@20', 'infAP', 'nERR_IA', 'nNRBP'],
    ...['α_DCG', 'α_nDCG'],
  ],
};

/** Names of ranx 0.3.21, and those of the golden cases. */
const OTHERS = {
  same: {
    'hit_rate@5': 'success@5',
    'hit@5': 'success@5',
    'precision@5': 'p@5',
    'r-precision': 'rprec',
    'nDCG_burges@5': 'ndcg_burges@5',
    'ndcg_burges@5': 'ndcg_burges@5',
    'mrr@10': 'mrr@10',
    'evidence@500t': 'recall@500t',
    'R@500t': 'recall@500t',
    'all_evidence@500t': 'all@500t',
    'rbp(p=0.5)': 'rbp(0.5)',
  },
  different: ['hits', 'hits@3', 'rbp.95'],
  absent: ['f1', 'f1@5', 'dcg@5', 'dcg_burges@5'],
};

const PROGRAMS = [TREC_EVAL, IR_MEASURES, OTHERS];

test.each(PROGRAMS.flatMap(({ same }) => Object.entries(same)))('%s is %s', (foreign, own) => {
  expect(parseMetric(foreign).id).toBe(own);
  expect(parseMetric(own)).toEqual({ ...parseMetric(foreign), compute: expect.any(Function) });
});

test.each(PROGRAMS.flatMap(({ different }) => different))('%s has another meaning here', (id) => {
  expect(() => parseMetric(id)).toThrow(
    id === 'recall' || id === 'success'
      ? `metric has no cutoff: ${id}; use one, such as ${id}@10`
      : `metric has another meaning here: ${id} (`,
  );
});

test.each(PROGRAMS.flatMap(({ absent }) => absent))('%s is not measured here', (id) => {
  expect(() => parseMetric(id)).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: expect.stringMatching(/^metric is not measured here: .*; use \S/),
    }),
  );
});

test('a refusal says what differs and what to write', () => {
  expect(() => parseMetric('ERR@10')).toThrow(
    'metric has another meaning here: ERR@10 (ir_measures computes it with grades 0 to 4 (gdeval); here the scale ends at its highest grade); use err@k',
  );
  expect(() => parseMetric('RBP(p=0.8)')).toThrow('use RBP(rel=1,p=0.8)');
  expect(() => parseMetric('P')).toThrow('(trec_eval prints it at several cutoffs); use one of them, such as P_10');
  expect(() => parseMetric('Judged@10')).toThrow('use the passport of a metric, which has judged@k');
});

test.each(['mapp@10', 'ndcg10', '10', '', 'constructor', 'f2'])('%j is of no program', (id) => {
  expect(translateMetric(id)).toBeUndefined();
});

test('what a metric cannot have is refused, also under another name', () => {
  expect(() => parseMetric('nDCG(rel=2)@10')).toThrow('metric uses grades and has no rel: nDCG(rel=2)@10; use ndcg');
  expect(() => parseMetric('nDCG(gains={1:2,2:4})@10')).toThrow('metric does not take gains={1:2,2:4}');
  expect(() => parseMetric("nDCG(dcg='log10')@10")).toThrow("metric does not take dcg='log10'");
  expect(() => parseMetric("P(dcg='exp-log2')@10")).toThrow("metric does not take dcg='exp-log2'");
  expect(() => parseMetric('RR(judged_only=1)@10')).toThrow('metric does not take judged_only=1');
  expect(() => parseMetric('NumRet(rel=2)@10')).toThrow('metric has no cutoffs: NumRet(rel=2)@10; use num_rel_ret');
  expect(() => parseMetric('P@500t')).toThrow('metric has no token budget: P@500t; use ranks, such as p@10');
  expect(() => parseMetric('R')).toThrow('metric has no cutoff: R; use one, such as recall@10');
  expect(() => parseMetric('AP(rel=0)')).toThrow('metric does not take rel=0: AP(rel=0); use map or map(rel=2)');
  expect(() => parseMetric('AP(rel=2,rel=3)')).toThrow('metric does not take rel=3');
});
