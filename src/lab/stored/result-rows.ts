import type { RunSummary } from './run-summary.ts';

/** A field of a row; null if missing. */
export type Field = string | number | boolean | null;

/** One arm of a stored run with all its values, by field name. */
export type ResultRow = ReadonlyMap<string, Field>;

/**
 * A row per arm, failed and stopped arms included. Metrics are named as in the config, with `.low`, `.high`, `.difference`, `.p` (corrected) and `.verdict`; levels of a sweep as
 * `level.<factor>`, what tuning chose as `tuned.<path>`.
 */
export function listResultRows(run: RunSummary): ResultRow[] {
  const common = runFields(run);
  const finished = run.arms.map((arm) => new Map([...common, ...listArmFields(arm, run)]));
  const failed = run.failures.map(
    ({ name, code, message }) =>
      new Map<string, Field>([...common, ['arm', name], ['status', 'failed'], ['message', `${code}: ${message}`]]),
  );
  const stopped = run.stopped.map(
    ({ name, queries, metric, mean }) =>
      new Map<string, Field>([
        ...common,
        ['arm', name],
        ['status', 'stopped'],
        ['message', `after ${queries} queries, ${metric} ${mean}`],
      ]),
  );
  return [...finished, ...failed, ...stopped];
}

function runFields({ folder, experiment, hash, queries, dataset, environment }: RunSummary): [string, Field][] {
  return [
    ['run', folder],
    ['experiment', experiment],
    ['hash', hash],
    ['dataset', dataset.name],
    ['split', dataset.split],
    ['data', dataset.hash],
    ['queries', queries],
    ['version', environment.version],
    ['commit', environment.commit],
    ['date', environment.date ?? null],
    ['backend', environment.backend],
    ['cpu', environment.machine.cpu],
    ['seed', environment.seed],
    ['command', environment.command],
  ];
}

function listArmFields(arm: RunSummary['arms'][number], { baseline, metrics }: RunSummary): [string, Field][] {
  return [
    ['arm', arm.name],
    ['status', 'finished'],
    ['baseline', arm.name === baseline],
    ['control', arm.control?.kind ?? null],
    ['unjudged', arm.holes],
    ...Object.entries(arm.levels ?? {}).map(([factor, level]): [string, Field] => [`level.${factor}`, level]),
    ...Object.entries(arm.tuned).map(([path, value]): [string, Field] => [`tuned.${path}`, toField(value)]),
    ...metrics.flatMap((metric) => listMetricFields(metric, arm)),
  ];
}

function listMetricFields(metric: string, arm: RunSummary['arms'][number]): [string, Field][] {
  const interval = arm.metrics[metric];
  const comparison = arm.comparisons?.[metric];
  if (interval === undefined) return [];
  return [
    [metric, interval.mean],
    [`${metric}.low`, interval.low],
    [`${metric}.high`, interval.high],
    [`${metric}.difference`, comparison?.difference.mean ?? null],
    [`${metric}.p`, comparison?.correctedP ?? null],
    [`${metric}.verdict`, comparison?.verdict ?? null],
  ];
}

function toField(value: unknown): Field {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
}
