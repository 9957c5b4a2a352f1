import { statfsSync } from 'node:fs';
import { UnavailableError } from '../errors/errors.ts';
import type { InstallableBackend } from '../tensors/active-backend.ts';
import { ExternalProgramError, type ExternalRun, isProgramFound, runExternal } from './external-program.ts';
import type { Recipe, Wheel } from './recipes.ts';

/** Programs that build a native part, with the packages of Debian that have them. */
const BUILDERS = { python3: 'python3', make: 'build-essential', 'c++': 'build-essential' } as const;
/** Bytes of a wheel's content beside those of the wheel, which is kept until all is done. */
const UNPACKED = 2;
/** Bytes of the packages of npm, and of a build. */
const REST_BYTES = 2 ** 30;

function refuseSystem(name: InstallableBackend): void {
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  const { platform, arch } = process;
  if (platform === 'linux' && arch === 'x64' && header.glibcVersionRuntime !== undefined) return;
  const found = header.glibcVersionRuntime === undefined ? 'without glibc' : 'with glibc';
  throw new UnavailableError(
    `backend ${name}`,
    `it is built for Linux on x86-64 with glibc, this is ${platform} on ${arch} ${found}; use webgpu or wasm`,
  );
}

function refuseMissing(name: InstallableBackend, programs: readonly (keyof typeof BUILDERS)[]): void {
  if (!isProgramFound('npm'))
    throw new UnavailableError(`backend ${name}`, 'npm is not in PATH; install npm, which comes with Node');
  const missing = programs.filter((program) => !isProgramFound(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => BUILDERS[program]))].join(' ');
  throw new UnavailableError(`backend ${name}`, `not in PATH: ${missing.join(', ')}; apt-get install ${packages}`);
}

async function refuseMissingPip(name: InstallableBackend, run: ExternalRun): Promise<void> {
  try {
    await runExternal('python3', ['-m', 'pip', '--version'], run);
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || run.signal.aborted) throw error;
    throw new UnavailableError(`backend ${name}`, 'python3 has no pip; apt-get install python3-pip', { cause: error });
  }
}

function refuseFullDisk(name: InstallableBackend, folder: string, needed: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= needed) return;
  const [free, least] = [bavail * bsize, needed].map((bytes) => (bytes / 2 ** 30).toFixed(1));
  throw new UnavailableError(
    `backend ${name}`,
    `${folder} has ${free} GiB free, ${least} are needed; set RAGPP_CACHE to a folder of a larger disk`,
  );
}

/**
 * Checks that a backend can be made on this machine, before anything is downloaded.
 *
 * @param wheels that will be downloaded.
 * @throws UnavailableError naming what is missing and the command that brings it.
 */
export async function assertRequirements(
  name: InstallableBackend,
  { addon }: Recipe,
  wheels: readonly Wheel[],
  run: ExternalRun,
): Promise<void> {
  if (addon !== undefined) refuseSystem(name);
  refuseMissing(name, addon === undefined ? [] : ['python3', 'make', 'c++']);
  if (addon !== undefined) await refuseMissingPip(name, run);
  const downloaded = wheels.reduce((sum, { bytes }) => sum + bytes, 0);
  refuseFullDisk(name, run.folder, (1 + UNPACKED) * downloaded + REST_BYTES);
}
