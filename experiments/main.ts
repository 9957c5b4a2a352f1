import { candidateStage } from './candidate-stage/study.ts';
import { conceptAliases } from './concept-aliases/study.ts';
import { runConservationDrift } from './conservation-drift/command.ts';
import { contextPresets } from './context-presets/study.ts';
import { crossEncoder } from './cross-encoder/study.ts';
import { evidence } from './evidence/study.ts';
import { evidencePaths } from './evidence-paths/study.ts';
import { runFindings } from './findings/command.ts';
import { memory } from './memory/study.ts';
import { memoryUse } from './memory-use/study.ts';
import { outcomeLearning } from './outcome-learning/study.ts';
import { plantedTruth } from './planted-truth/study.ts';
import { priorCalibration } from './prior-calibration/study.ts';
import { runAsProgram } from './program.ts';
import { queryUnderstanding } from './query-understanding/study.ts';
import { shopRecords } from './shop-records/study.ts';
import { shownConservation } from './shown-conservation/study.ts';
import { sliceHierarchy } from './slice-hierarchy/study.ts';
import { stopping } from './stopping/study.ts';
import { createStudyCommand } from './study.ts';
import { throughput } from './throughput/study.ts';
import { tokenLayers, tokenTuning } from './token-tuning/study.ts';
import { transfer } from './transfer/study.ts';
import { trees } from './trees/study.ts';
import { userPatterns } from './user-patterns/study.ts';

/** Every experiment by name: what `npm run experiment -- <name>` runs. */
const EXPERIMENTS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  'candidate-stage': createStudyCommand(candidateStage),
  'concept-aliases': createStudyCommand(conceptAliases),
  'conservation-drift': runConservationDrift,
  'context-presets': createStudyCommand(contextPresets),
  'cross-encoder': createStudyCommand(crossEncoder),
  evidence: createStudyCommand(evidence),
  'evidence-paths': createStudyCommand(evidencePaths),
  findings: runFindings,
  memory: createStudyCommand(memory),
  'memory-use': createStudyCommand(memoryUse),
  'outcome-learning': createStudyCommand(outcomeLearning),
  'planted-truth': createStudyCommand(plantedTruth),
  'prior-calibration': createStudyCommand(priorCalibration),
  'query-understanding': createStudyCommand(queryUnderstanding),
  'shop-records': createStudyCommand(shopRecords),
  'shown-conservation': createStudyCommand(shownConservation),
  'slice-hierarchy': createStudyCommand(sliceHierarchy),
  stopping: createStudyCommand(stopping),
  throughput: createStudyCommand(throughput),
  'token-layers': createStudyCommand(tokenLayers),
  'token-tuning': createStudyCommand(tokenTuning),
  transfer: createStudyCommand(transfer),
  trees: createStudyCommand(trees),
  'user-patterns': createStudyCommand(userPatterns),
};

const [name = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(EXPERIMENTS, name)) await runAsProgram(EXPERIMENTS[name] as (typeof EXPERIMENTS)[string], args);
else {
  const list = Object.keys(EXPERIMENTS).map((known) => `  ${known}\n`);
  process.stderr.write(`usage: npm run experiment -- <name> [options]\n\n${list.join('')}`);
  process.exitCode = 2;
}
