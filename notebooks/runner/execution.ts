import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findLostOutputs } from './differences.ts';
import { NOTEBOOKS } from './machine.ts';
import { type Notebook, readNotebook } from './notebook.ts';

/** What one notebook may take. */
const SECONDS = 120;
/** The kernel stops within a second; after this time it is killed. */
const GRACE_SECONDS = 10;
const ATTEMPTS = 3;

export interface Execution {
  readonly seconds: number;
  /** Null if it failed. */
  readonly notebook: Notebook | null;
  /** What the executing program wrote about its failure; empty without one. */
  readonly failure: string;
  /** Sentences on outputs that came late or were lost. */
  readonly remarks: readonly string[];
}

interface Finished {
  readonly status: number | null;
  readonly isLate: boolean;
  readonly out: string;
  readonly error: string;
}

function runPython(python: string, args: readonly string[]): Promise<Finished> {
  const env = {
    ...process.env,
    JUPYTER_PATH: NOTEBOOKS,
    NO_COLOR: '1',
    PATH: [join(NOTEBOOKS, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  };
  const child = spawn(python, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = { out: [] as Buffer[], error: [] as Buffer[] };
  child.stdout.on('data', (chunk: Buffer) => chunks.out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.error.push(chunk));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGINT'); // nbclient ends its kernel
    setTimeout(() => child.kill('SIGKILL'), 1000 * GRACE_SECONDS).unref();
  }, 1000 * SECONDS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      const [out, error] = [Buffer.concat(chunks.out).toString(), Buffer.concat(chunks.error).toString()];
      resolve({ status, isLate, out, error });
    });
  });
}

/** Executes a notebook once. */
async function executeOnce(python: string, path: string): Promise<Execution> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-notebook-'));
  const target = join(folder, 'executed.ipynb');
  const started = performance.now();
  try {
    const script = join(import.meta.dirname, 'execute.py');
    const { status, isLate, out, error } = await runPython(python, [script, path, target, NOTEBOOKS, String(SECONDS)]);
    const seconds = (performance.now() - started) / 1000;
    if (isLate) return { seconds, notebook: null, failure: `took longer than ${SECONDS} s`, remarks: [] };
    if (status !== 0) return { seconds, notebook: null, failure: error.trim(), remarks: [] };
    const { late } = JSON.parse(out.trim().split('\n').at(-1) as string) as { late: number[] };
    const remarks = late.length === 0 ? [] : [`the kernel sent ${late.length} outputs after their cell was finished`];
    return { seconds, notebook: readNotebook(target), failure: '', remarks };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Executes a notebook, again if the kernel loses an output, at most three times. Each loss is reported. */
export async function executeNotebook(python: string, path: string, reference: Notebook): Promise<Execution> {
  const remarks: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const execution = await executeOnce(python, path);
    remarks.push(...execution.remarks);
    const lost = execution.notebook === null ? [] : findLostOutputs(reference, execution.notebook);
    if (lost.length === 0 || attempt === ATTEMPTS) return { ...execution, remarks };
    remarks.push(`no output came of cells ${lost.join(', ')} in attempt ${attempt} of ${ATTEMPTS}`);
  }
}
