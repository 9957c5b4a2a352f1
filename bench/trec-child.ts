import { evaluate } from '../src/eval/metrics/evaluate.ts';
import { readQrels, readRun } from '../src/eval/trec/trec-files.ts';
import type { Qrels, Run } from '../src/model/run.ts';
import { readPeakMemoryBytes } from './peak-memory.ts';
import { readProcessorSeconds } from './timing.ts';
import { locateTrecFile } from './trec-workload.ts';
import { EVALUATION, TREC_METRICS, type TrecCost, type TrecWork } from './trec-works.ts';

const { folder, works } = JSON.parse(process.argv[2]!) as { folder: string; works: readonly TrecWork[] };
let run: Run = new Map();
let qrels: Qrels = new Map();
const DO: Readonly<Record<TrecWork, () => void>> = {
  run: () => {
    run = new Map();
    run = readRun(locateTrecFile(folder, 'run'));
  },
  qrels: () => {
    qrels = readQrels(locateTrecFile(folder, 'qrels'));
  },
  evaluate: () => void evaluate(run, qrels, TREC_METRICS, EVALUATION),
};
const costs: TrecCost[] = works.map((work) => {
  const start = readProcessorSeconds();
  DO[work]();
  return { work, seconds: readProcessorSeconds() - start, peakBytes: readPeakMemoryBytes() };
});
process.send!(costs);
