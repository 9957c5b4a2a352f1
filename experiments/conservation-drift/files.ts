import { stringify } from 'yaml';
import { formatMinute } from '../../src/lab/report/tables/format.ts';
import type { RunFiles } from '../../src/lab/run/run-folder.ts';
import { formatPipeTable } from '../text-table.ts';
import { type DriftResult, NAME } from './experiment.ts';
import { buildDriftFigure } from './figure.ts';
import { renderDriftPage } from './page.ts';
import { buildDriftTable, buildOperationTable } from './tables.ts';

function formatDriftMarkdown(result: DriftResult): string {
  const { span, settings, environment, hash, dataset } = result;
  const [start, end] = [span.start, span.end].map((time) => formatMinute(time).slice(0, 10));
  const { version, commit, backend, machine, seed, command } = environment;
  return `${[
    formatPipeTable(buildDriftTable(result)),
    `Initial is ${start}, final ${end}: the ends of the time in which at least ${settings.leastMessages} messages came in the ${settings.retentionDays} days before.`,
    formatPipeTable(buildOperationTable(result)),
    `Experiment ${NAME} (${hash}) on ${dataset.name}; version ${version}, commit ${commit}, backend ${backend}, ${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  ].join('\n\n')}\n`;
}

const encodeDriftJson = (value: unknown, space = 0) => `${JSON.stringify(value, null, space)}\n`;

/** The files of the experiment. */
export function buildDriftFiles(result: DriftResult): RunFiles {
  const { environment, settings, policies, ...facts } = result;
  const figure = buildDriftFigure(result);
  const measured = policies.map(({ samples: _, ...policy }) => policy);
  const series = Object.fromEntries(policies.map(({ name, samples }) => [name, samples]));
  return {
    'config.yaml': stringify(settings),
    'environment.json': encodeDriftJson(environment, 2),
    'metrics.json': encodeDriftJson({ experiment: NAME, ...facts, policies: measured }, 2),
    'series.json': encodeDriftJson(series),
    'figure.json': encodeDriftJson(figure),
    'table.md': formatDriftMarkdown(result),
    'report.html': renderDriftPage(result, figure),
  };
}
