import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatVerifyTable } from '../src/cli/actions/verify.ts';
import { PROJECT_ROOT } from '../src/core/code/package-root.ts';
import { RagPlusPlusError } from '../src/core/errors/errors.ts';
import { makeFolder, readText, writeAtomic } from '../src/core/files/files.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import { describeDevice } from '../src/lab/verification/backend-proof.ts';
import { OWN_GOLDEN, readGolden, verify } from '../src/lab/verification/verify.ts';
import { formatDeviceTable, measureDevice, parseDeviceSize } from './device.ts';
import type { PackRecord } from './pack.ts';

// the program of a folder of `npm run bench -- pack`

/** The folder that was packed, around the program. */
const PACK = dirname(PROJECT_ROOT);

async function runPack(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { out: { type: 'string', default: join(PACK, 'results') }, size: { type: 'string', default: 'small' } },
  });
  const size = parseDeviceSize(values.size);
  const out = resolve(values.out);
  const pack = JSON.parse(readText(join(PACK, 'pack.json'))) as PackRecord;
  makeFolder(out);
  await useBackend(pack.backend);
  const environment = {
    ...pack,
    device: describeDevice(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
  };
  const write = (name: string, report: object) =>
    writeAtomic(join(out, name), `${JSON.stringify({ environment, ...report }, null, 2)}\n`);
  console.log(`${environment.device}; ${environment.processor}, ${environment.cores} cores`);

  const topics = await verify(readGolden(OWN_GOLDEN), createTerminalProgress());
  const pass = topics.every(({ failures }) => failures.length === 0);
  write('verify.json', { pass, topics });
  console.log(formatVerifyTable(pack.backend, topics));
  const report = await measureDevice({ backend: pack.backend, size, rounds: 3, seed: 7, progress: console.error });
  write('device.json', report);
  console.log(`\n${formatDeviceTable(report)}\n\nwritten to ${out}`);
  return pass ? 0 : 1;
}

try {
  process.exitCode = await runPack(process.argv.slice(2));
} catch (error) {
  const isOption = error instanceof TypeError && 'code' in error; // node:util parseArgs
  if (!isOption && !(error instanceof RagPlusPlusError)) throw error;
  console.error(error.message);
  process.exitCode = isOption ? 2 : 1;
}
