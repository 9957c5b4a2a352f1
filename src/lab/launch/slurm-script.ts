import { join } from 'node:path';
import { quoteShellWord } from '../../core/text/escapes.ts';
import { type ArmProcessJob, buildArmArguments } from './arm-process.ts';
import type { SlurmOptions } from './slurm-options.ts';

/** What a job array is written from. */
interface ArrayJob extends ArmProcessJob {
  /** Names of the arms, a task each. */
  readonly arms: readonly string[];
}

/** A value for a line of sbatch, which splits at blanks and expands `%` in names of files. */
function quoteSbatchValue(text: string): string {
  return /[\s"'\\#]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

function listDirectives(job: ArrayJob, folder: string, options: SlurmOptions): string[] {
  const { workers, partition, account, time, memory, cpusPerTask, sbatch } = options;
  const throttle = workers === null ? '' : `%${workers}`;
  const log = join(folder.replaceAll('%', '%%'), '%A_%a.log');
  const given: [name: string, value: string | number | undefined][] = [
    ['job-name', 'ragpp'],
    ['array', `0-${job.arms.length - 1}${throttle}`],
    ['chdir', process.cwd()],
    ['output', log],
    ['partition', partition],
    ['account', account],
    ['time', time],
    ['mem', memory],
    ['cpus-per-task', cpusPerTask],
  ];
  const lines = given.flatMap(([name, text]) =>
    text === undefined ? [] : [`--${name}=${quoteSbatchValue(String(text))}`],
  );
  return [...lines, '--no-requeue', ...sbatch].map((line) => `#SBATCH ${line}`);
}

/**
 * The script of a job array, one arm a task. The arms are written into it, so that a task's arm does not depend on what happens to the folder meanwhile.
 *
 * @param folder where logs go, `<job>_<task>.log`.
 */
export function formatArrayScript(job: ArrayJob, folder: string, options: SlurmOptions): string {
  const { nodeOptions, main } = job.program;
  const command = [process.execPath, ...nodeOptions, main, ...buildArmArguments(job)].map(quoteShellWord).join(' ');
  const cases = job.arms.map((arm, task) => `${task}) arm=${quoteShellWord(arm)} ;;`);
  return [
    '#!/bin/sh',
    ...listDirectives(job, folder, options),
    'set -e',
    ...options.setup,
    'case "$SLURM_ARRAY_TASK_ID" in',
    ...cases,
    'esac',
    `exec ${command} --arm "$arm"`,
    '',
  ].join('\n');
}
