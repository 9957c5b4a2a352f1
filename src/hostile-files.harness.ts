import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { RagPlusPlusError } from './core/errors/errors.ts';
import { loadChatGptExport } from './data/exports/chatgpt-export.ts';
import { loadOasst } from './data/oasst/oasst.ts';
import { chatGptExport } from './data/prepared/datasets.ts';
import { readVectorRows } from './index/encoders/precomputed/vector-file.ts';

/** The result of reading a file. */
export interface HostileOutcome {
  readonly name: string;
  /** The error in one line; null if the file was read. */
  readonly error: { readonly message: string; readonly isOurs: boolean } | null;
  /** The most memory of this process and of those that it started, each; null where the system does not say. */
  readonly peakMib: number | null;
}

const readPeak = (pid: number | string): number => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it has ended
  }
};
const listChildren = () =>
  readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );

async function load(path: string): Promise<unknown> {
  if (extname(path) === '.gz') return loadOasst({ path });
  return ['.zip', '.json'].includes(extname(path))
    ? loadChatGptExport(chatGptExport.options.parse({ name: 'chatgpt-export', path }))
    : readVectorRows(path);
}

async function judge(folder: string, name: string): Promise<HostileOutcome> {
  const isLinux = process.platform === 'linux';
  let peakMib = 0;
  globalThis.gc?.();
  if (isLinux) writeFileSync('/proc/self/clear_refs', '5'); // the peak begins anew
  const watch = setInterval(() => {
    if (isLinux) peakMib = Math.max(peakMib, ...listChildren().map(readPeak));
  }, 5);
  let error: HostileOutcome['error'] = null;
  try {
    await load(join(folder, name));
  } catch (caught) {
    error = { message: (caught as Error).message, isOurs: caught instanceof RagPlusPlusError };
  }
  clearInterval(watch);
  return { name, error, peakMib: isLinux ? Math.max(peakMib, readPeak('self')) : null };
}

const [folder, ...names] = process.argv.slice(2) as [string, ...string[]];
for (const name of names) {
  const outcome = await judge(folder, name);
  console.log(JSON.stringify(outcome));
}
