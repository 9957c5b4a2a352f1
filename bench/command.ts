import { RagPlusPlusError } from '../src/core/errors/errors.ts';
import { ATTENTION_USAGE, benchAttention } from './attention.ts';
import { BACKENDS_USAGE, benchBackends } from './backends.ts';
import { BERT_USAGE, benchBert } from './bert.ts';
import { benchCandidates, CANDIDATES_USAGE } from './candidates.ts';
import { benchConservation, CONSERVATION_USAGE } from './conservation.ts';
import { benchContext, CONTEXT_USAGE } from './context.ts';
import { benchCuration, CURATION_USAGE } from './curation.ts';
import { benchDevice, DEVICE_USAGE } from './device.ts';
import { benchFilteredSearch, FILTERED_SEARCH_USAGE } from './filtered-search.ts';
import { benchGraph, GRAPH_USAGE } from './graph.ts';
import { benchKernel, KERNEL_USAGE } from './kernel.ts';
import { benchLate, LATE_USAGE } from './late.ts';
import { benchLearning, LEARNING_USAGE } from './learning.ts';
import { benchLive, LIVE_USAGE } from './live.ts';
import { benchMainPath, MAIN_PATH_USAGE } from './main-path.ts';
import { benchMemory, MEMORY_USAGE } from './memory.ts';
import { benchMemoryKills, MEMORY_KILLS_USAGE } from './memory-kills.ts';
import { benchOperations, OPERATIONS_USAGE } from './operations.ts';
import { benchPack, PACK_USAGE } from './pack.ts';
import { benchPageRank, PAGERANK_USAGE } from './pagerank.ts';
import { benchPeers, PEERS_USAGE } from './peers.ts';
import { benchPublished, PUBLISHED_USAGE } from './published.ts';
import { benchRerank, RERANK_USAGE } from './rerank.ts';
import { benchScale, SCALE_USAGE } from './scale.ts';
import { benchStages, STAGES_USAGE } from './stages.ts';
import { benchStartup, STARTUP_USAGE } from './startup.ts';
import { benchSweep, SWEEP_USAGE } from './sweep.ts';

const BENCHES: Readonly<Record<string, { usage: string; run: (args: readonly string[]) => Promise<void> }>> = {
  attention: { usage: ATTENTION_USAGE, run: benchAttention },
  backends: { usage: BACKENDS_USAGE, run: benchBackends },
  bert: { usage: BERT_USAGE, run: benchBert },
  candidates: { usage: CANDIDATES_USAGE, run: benchCandidates },
  conservation: { usage: CONSERVATION_USAGE, run: benchConservation },
  context: { usage: CONTEXT_USAGE, run: benchContext },
  curation: { usage: CURATION_USAGE, run: benchCuration },
  device: { usage: DEVICE_USAGE, run: benchDevice },
  'filtered-search': { usage: FILTERED_SEARCH_USAGE, run: benchFilteredSearch },
  graph: { usage: GRAPH_USAGE, run: benchGraph },
  kernel: { usage: KERNEL_USAGE, run: benchKernel },
  late: { usage: LATE_USAGE, run: benchLate },
  learning: { usage: LEARNING_USAGE, run: benchLearning },
  live: { usage: LIVE_USAGE, run: benchLive },
  'main-path': { usage: MAIN_PATH_USAGE, run: benchMainPath },
  'memory-kills': { usage: MEMORY_KILLS_USAGE, run: benchMemoryKills },
  memory: { usage: MEMORY_USAGE, run: benchMemory },
  operations: { usage: OPERATIONS_USAGE, run: benchOperations },
  pack: { usage: PACK_USAGE, run: benchPack },
  pagerank: { usage: PAGERANK_USAGE, run: benchPageRank },
  peers: { usage: PEERS_USAGE, run: benchPeers },
  published: { usage: PUBLISHED_USAGE, run: benchPublished },
  rerank: { usage: RERANK_USAGE, run: benchRerank },
  scale: { usage: SCALE_USAGE, run: benchScale },
  stages: { usage: STAGES_USAGE, run: benchStages },
  startup: { usage: STARTUP_USAGE, run: benchStartup },
  sweep: { usage: SWEEP_USAGE, run: benchSweep },
};

function formatUsage(): string {
  const list = Object.values(BENCHES).map((bench) => `  ${bench.usage}`);
  return `usage: npm run bench -- <name> [options]\n\n${list.join('\n')}`;
}

/** Runs a bench by its name. Faults of the user's end with 2, those of the machine with 1. @returns the exit code. */
export async function runBench([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help') {
    console.log(formatUsage());
    return name === undefined ? 2 : 0;
  }
  const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (bench === undefined) {
    console.error(`unknown bench: ${name}\n\n${formatUsage()}`);
    return 2;
  }
  try {
    await bench.run(args);
    return 0;
  } catch (error) {
    const isOption = error instanceof TypeError && 'code' in error; // node:util parseArgs
    if (!isOption && !(error instanceof RagPlusPlusError)) throw error;
    console.error(error.message);
    return isOption || (error as RagPlusPlusError).code === 'VALIDATION' ? 2 : 1;
  }
}
