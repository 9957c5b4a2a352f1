import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import { NOTEBOOKS } from './machine.ts';

/** A running Jupyter that serves the folder of the notebooks. */
export interface JupyterServer {
  /** The address of a notebook, with the token of the server. */
  readonly locate: (notebook: string) => string;
  readonly stop: () => Promise<void>;
}

/** The line of Jupyter's log with its address. */
const ADDRESS = /(http:\/\/(?:127\.0\.0\.1|localhost):\d+\/)\S*\?token=(\w+)/;

/**
 * Starts the classic notebook as docs/notebooks.md says, with settings and trusted notebooks of its own: those of the user do not count.
 *
 * @throws UnavailableError with the log if Jupyter stops before it serves.
 */
export async function startJupyter(): Promise<JupyterServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-jupyter-'));
  const env = {
    ...process.env,
    JUPYTER_PATH: NOTEBOOKS,
    JUPYTER_CONFIG_DIR: join(folder, 'config'),
    JUPYTER_DATA_DIR: join(folder, 'data'),
    JUPYTER_RUNTIME_DIR: join(folder, 'runtime'),
    PATH: [join(NOTEBOOKS, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
  };
  const args = ['notebook', '--no-browser', '--allow-root', '--ip=127.0.0.1', NOTEBOOKS]; // a container has root alone
  const child = spawn('jupyter', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  const lines: string[] = [];
  const [, root, token] = await new Promise<readonly string[]>((resolve, reject) => {
    const fail = (cause: string) =>
      reject(new UnavailableError('jupyter notebook', `${cause}; read its log and correct the installation`));
    child.on('error', ({ message }) => fail(message));
    child.on('close', (status) => fail(`stopped with ${status}: ${lines.join('').trim()}`));
    child.stderr.on('data', (chunk: Buffer) => {
      lines.push(chunk.toString());
      const found = ADDRESS.exec(lines.join(''));
      if (found !== null) resolve(found);
    });
  });
  return { locate: (notebook) => `${root}notebooks/${encodeURIComponent(notebook)}?token=${token}`, stop };
}
