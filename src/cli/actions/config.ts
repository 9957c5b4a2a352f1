import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assertReadableFolder, writeAtomic } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { yaml } from '../../core/values/yaml.ts';
import { loadDataset } from '../../data/registry.ts';
import { listArmsToRun } from '../../lab/config/arm-selection.ts';
import type { ExperimentConfig } from '../../lab/config/config.ts';
import { buildConfigJsonSchema } from '../../lab/config/config-json-schema.ts';
import { type ArmSummary, summariseArms } from '../../lab/config/config-summary.ts';
import type { ProtocolWarning } from '../../lab/measure/result.ts';
import { stageVersion } from '../../lab/run/environment.ts';
import { findPlannedSlices } from '../../lab/run/run-slices.ts';
import { findReachWarnings } from '../../lab/run/run-warnings.ts';
import { StageCache } from '../../lab/run/stage-cache.ts';
import { planStages } from '../../lab/run/stage-plan.ts';
import type { ConfigChanges } from '../options/options.ts';
import { alignColumns } from '../process/columns.ts';
import { openChangedConfig } from './changed-config.ts';

/** The schema as the text of a file. */
export function formatConfigSchema(): string {
  return `${JSON.stringify(buildConfigJsonSchema(), null, 2)}\n`;
}

interface SchemaFlags {
  readonly out?: string;
}

export function printSchema({ out }: SchemaFlags): void {
  const text = formatConfigSchema();
  if (out === undefined) {
    printOut(text);
    return;
  }
  writeAtomic(out, text);
  printError(`schema: ${out}\n`);
}

interface ShowOptions extends ConfigChanges {
  readonly backend?: BackendChoice;
  readonly cache: string;
  readonly json?: true;
}

/** The cost of a run in executions of stages. */
interface Cost {
  readonly backend: string;
  readonly executions: Readonly<Record<string, number>>;
  readonly total: number;
  /** False for an upper bound, if it depends on tuning. */
  readonly exact: boolean;
  /** The number of them in the cache already. */
  readonly cached: number;
}

/** Long values, such as lists of candidate sources, are cut: the config has them in full. */
const LONGEST_VALUE = 60;

function formatShownValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}

function formatArmRow({ name, extends: start, differences, points, isRun }: ArmSummary): string[] {
  const changes = Object.entries(differences).map(([path, value]) => `${path}=${formatShownValue(value)}`);
  const tuning = points === 0 ? [] : [`tuned over ${points} points`];
  const remark = isRun ? [] : ['not run: others start from it'];
  return [name, start ?? '-', [...changes, ...tuning, ...remark].join(', ') || 'nothing'];
}

async function estimateCost(config: ExperimentConfig, { backend: wanted, cache }: ShowOptions): Promise<Cost> {
  assertReadableFolder(cache);
  const backend = await useBackend(wanted ?? config.backend);
  const progress = createTerminalProgress();
  const dataset = await loadDataset(config.dataset, { cacheFolder: join(cache, 'datasets'), progress });
  const slices = await findPlannedSlices(config, cache);
  const { executions, total, exact, known } = planStages({ dataset, config, code: stageVersion, slices });
  const store = new StageCache(cache);
  return {
    backend,
    executions,
    total,
    exact,
    cached: known.filter((stage) => existsSync(store.joinStagePath(stage))).length,
  };
}

/** The remarks below a config, which leave it a YAML file. */
function formatConfigSummary(
  arms: readonly ArmSummary[],
  { backend, executions, total, exact, cached }: Cost,
  warnings: readonly ProtocolWarning[],
): string {
  const run = arms.filter(({ isRun }) => isRun);
  const points = arms.reduce((sum, arm) => sum + arm.points, 0);
  const paragraphs = [
    `${run.length} arms; what each starts from, and where it differs:\n${alignColumns(arms.map(formatArmRow))}`,
    `tuning tries ${points} points`,
    `${exact ? '' : 'at most '}${total} stage executions on ${backend}, ${cached} of them in the cache:`,
    alignColumns(Object.entries(executions).map(([stage, count]) => [stage, String(count)])),
    ...warnings.map(({ code, message }) => `warning (${code}): ${message}`),
  ];
  return paragraphs
    .join('\n')
    .split('\n')
    .map((line) => `# ${line}\n`)
    .join('');
}

export async function show(path: string, options: ShowOptions): Promise<void> {
  const config = await openChangedConfig(path, options);
  const arms = summariseArms(config);
  const stages = await estimateCost(config, options);
  const warnings = findReachWarnings(listArmsToRun(config), config.evaluation);
  printOut(
    options.json
      ? `${JSON.stringify({ config, arms, stages, warnings }, null, 2)}\n`
      : `${yaml().stringify(config)}\n${formatConfigSummary(arms, stages, warnings)}`,
  );
}
