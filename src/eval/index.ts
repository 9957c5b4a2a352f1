/** Metrics as trec_eval computes them, intervals, tests, and TREC files: no tensors and few modules. */

export type { Qrels, Run } from '../model/run.ts';
export { groupIntoClusters, meanIntervals } from './intervals/mean-intervals.ts';
export { evaluate, summarise } from './metrics/evaluate.ts';
export type { JudgedRanking } from './metrics/judged-ranking.ts';
export { compareWithBaseline } from './significance/significance.ts';
export { createQrels, createRun } from './trec/run-tables.ts';
export { readQrels, readRun, writeQrels, writeRun } from './trec/trec-files.ts';
