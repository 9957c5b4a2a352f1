import { stringify } from 'yaml';
import type { RunFiles } from '../../src/lab/run/run-folder.ts';
import { formatPipeTable } from '../text-table.ts';
import { type FindingsResult, NAME } from './experiment.ts';
import { buildFindingTables } from './tables.ts';

function formatFindingsMarkdown(result: FindingsResult): string {
  const { version, commit, backend, machine, seed, command } = result.environment;
  const tables = buildFindingTables(result).flatMap(({ title, note, ...table }, i) => [
    `### Table ${i + 1}. ${title}`,
    formatPipeTable(table),
    note,
  ]);
  const source = `Experiment ${NAME} (${result.hash}) on ${result.dataset.name}; version ${version}, commit ${commit}, backend ${backend}, ${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`;
  return `${[...tables, source].join('\n\n')}\n`;
}

const encodeFindingsJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** The files of the experiment. */
export function buildFindingsFiles(result: FindingsResult): RunFiles {
  const { environment, settings, measured, ...facts } = result;
  return {
    'config.yaml': stringify(settings),
    'environment.json': encodeFindingsJson(environment),
    'metrics.json': encodeFindingsJson({ experiment: NAME, ...facts, ...measured }),
    'table.md': formatFindingsMarkdown(result),
  };
}
