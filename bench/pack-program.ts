import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatVerifyTable } from '../src/cli/actions/verify.ts';
import { PROJECT_ROOT } from '../src/core/code/package-root.ts';
import { RagPlusPlusError } from '../src/core/errors/errors.ts';
import { makeFolder, readText, writeAtomic } from '../src/core/files/files.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import { describeDevice } from '../src/lab/verification/backend-proof.ts';
import { OWN_GOLDEN, readGolden, verify } from '../src/lab/verification/verify.ts';
import { formatDeviceTable, measureDevice, parseDeviceSize, QUEUED } from './device.ts';
import { type DeviceSize, readRateSizes } from './device-workloads.ts';
import type { PackRecord } from './pack.ts';
import { findPython, runPeer } from './peers/python.ts';

// the program of a folder of `npm run bench -- pack`

/** The folder that was packed, around the program. */
const PACK = dirname(PROJECT_ROOT);

const ROUNDS = 3;

/** The output of `rates.py`. */
interface TorchRates {
  readonly torch: string;
  readonly device: string;
  /** GFLOP/s of a product. */
  readonly matmulRate: number;
  /** The same by TF32; null without a card. */
  readonly tf32Rate: number | null;
  /** GB/s of a sum of two arrays. */
  readonly memoryRate: number;
}

/** The rates of the bench by torch, or why they are missing. @throws UnavailableError if torch fails. */
function measureTorch(size: DeviceSize): TorchRates | { readonly missing: string } {
  const python = findPython(['torch']);
  if ('missing' in python) return python;
  const { rows, numbers } = readRateSizes(size);
  const script = pathToFileURL(join(PROJECT_ROOT, 'rates.py')).href;
  return runPeer(python, script, ...[rows, numbers, ROUNDS, QUEUED].map(String));
}

function describeTorch(found: ReturnType<typeof measureTorch>): string {
  if ('missing' in found) return `torch was not measured: ${found.missing}`;
  const { torch, device, matmulRate, tf32Rate, memoryRate } = found;
  const tf32 = tf32Rate === null ? '' : ` (by TF32 ${tf32Rate.toFixed(1)})`;
  return `torch ${torch}, ${device}: matmul ${matmulRate.toFixed(1)} GFLOP/s${tf32}, memory ${memoryRate.toFixed(1)} GB/s`;
}

async function runPack(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      out: { type: 'string', default: join(PACK, 'results') },
      size: { type: 'string', default: 'small' },
      torch: { type: 'boolean', default: false },
    },
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
  const report = await measureDevice({ backend: pack.backend, size, rounds: ROUNDS, seed: 7, progress: console.error });
  write('device.json', report);
  console.log(`\n${formatDeviceTable(report)}\n`);
  if (values.torch) {
    const torch = measureTorch(size);
    write('torch.json', torch);
    console.log(`${describeTorch(torch)}\n`);
  }
  console.log(`written to ${out}`);
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
