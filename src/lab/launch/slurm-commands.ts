import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { escapeControls } from '../../core/terminal/terminal.ts';

/** What a command of Slurm wrote to stderr, on one line. */
function readSlurmComplaint(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).replace(/\s*\n\s*/g, '; ');
}

const TIMEOUT_MILLISECONDS = 60_000;

function runSlurmCommand(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MILLISECONDS,
    });
  } catch (error) {
    const complaint = readSlurmComplaint(error);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UnavailableError(command, `${complaint}; install Slurm, or choose another launcher`, { cause: error });
    throw new ValidationError(
      `${command} failed: ${complaint}; correct the options of the launcher, or check the cluster`,
      { command },
      { cause: error },
    );
  }
}

/**
 * @returns the job's number.
 * @throws UnavailableError where Slurm is not installed, ValidationError with the reason where sbatch refuses the job.
 */
export function submit(script: string): string {
  const [id = ''] = runSlurmCommand('sbatch', ['--parsable', script]).trim().split(';'); // a cluster's name may follow
  return id;
}

/** How many tasks of a job wait or run; 0 for one that the queue has forgotten, null where the controller does not answer. Signals are heard meanwhile. */
export async function countPendingTasks(id: string): Promise<number | null> {
  const args = ['--noheader', '--array', '--jobs', id, '--format', '%i'];
  try {
    const { stdout } = await promisify(execFile)('squeue', args, { timeout: TIMEOUT_MILLISECONDS });
    return stdout.split('\n').filter((line) => line.trim() !== '').length;
  } catch (error) {
    return readSlurmComplaint(error).includes('Invalid job id') ? 0 : null;
  }
}

/** Takes a job with all its tasks out of the queue, at once, since the process may be about to end. Warns where that fails. */
export function cancelJob(id: string): void {
  try {
    runSlurmCommand('scancel', ['--quiet', id]);
  } catch (error) {
    process.emitWarning(escapeControls(`job ${id} may still be in the queue: ${readSlurmComplaint(error)}`));
  }
}
