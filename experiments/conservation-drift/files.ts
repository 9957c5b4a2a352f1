import { stringify } from 'yaml';
import type { RunFiles } from '../../src/experiment/run/run-folder.ts';
import { minute } from '../../src/report/tables/format.ts';
import { pipeTable } from '../text-table.ts';
import { type DriftResult, NAME } from './experiment.ts';
import { driftFigure } from './figure.ts';
import { driftPage } from './page.ts';
import { driftTable, operationTable } from './tables.ts';

function tableMarkdown(result: DriftResult): string {
  const { span, settings, environment, hash, dataset } = result;
  const [start, end] = [span.start, span.end].map((time) => minute(time).slice(0, 10));
  const { version, commit, backend, machine, seed, command } = environment;
  return `${[
    pipeTable(driftTable(result)),
    `Initial is ${start}, final ${end}: the ends of the time in which at least ${settings.leastMessages} messages came in the ${settings.retentionDays} days before.`,
    pipeTable(operationTable(result)),
    `Experiment ${NAME} (${hash}) on ${dataset.name}; version ${version}, commit ${commit}, backend ${backend}, ${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  ].join('\n\n')}\n`;
}

const json = (value: unknown, space = 0) => `${JSON.stringify(value, null, space)}\n`;

/** The files of the experiment. */
export function driftFiles(result: DriftResult): RunFiles {
  const { environment, settings, policies, ...facts } = result;
  const figure = driftFigure(result);
  const measured = policies.map(({ samples: _, ...policy }) => policy);
  const series = Object.fromEntries(policies.map(({ name, samples }) => [name, samples]));
  return {
    'config.yaml': stringify(settings),
    'environment.json': json(environment, 2),
    'metrics.json': json({ experiment: NAME, ...facts, policies: measured }, 2),
    'series.json': json(series),
    'figure.json': json(figure),
    'table.md': tableMarkdown(result),
    'report.html': driftPage(result, figure),
  };
}
