import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ProcessDiedError, UnavailableError, ValidationError } from '../errors/errors.ts';
import { buildFolder, removeBuiltFolder } from '../files/built-folder.ts';
import { makeFolder, writeAtomic } from '../files/files.ts';
import type { StartProgress } from '../terminal/progress.ts';
import {
  ExternalProgramError,
  type ExternalRun,
  findErrorLine,
  isProgramFound,
  runExternal,
} from './external-program.ts';
import { UNFINISHED_BACKEND } from './installed-backends.ts';
import {
  ADDON_RECORD,
  ADDONS,
  type AddonName,
  type AddonRecord,
  describeAddonOrigin,
  findAddonSource,
  findLibraryFolder,
  locateAddon,
} from './native-addon.ts';

/** The headers of Node-API, for a Node that came without its own. */
const HEADERS = 'node-api-headers@1.9.0';
/** One object for every processor: wider instructions are in functions of their own, chosen when it runs. */
const COMPILE = ['-std=c++17', '-O3', '-ffp-contract=off', '-fPIC', '-shared', '-fvisibility=hidden', '-w'];

/** Options of {@link installAddon}. */
export interface InstallAddonOptions {
  readonly progress: StartProgress;
  /** Ends the programs that were started. */
  readonly signal: AbortSignal;
  /**
   * Compares the addon with its library in another process.
   *
   * @param cache the folder that RAGPP_CACHE names there.
   */
  readonly prove: (cache: string) => Promise<void>;
}

/**
 * Compiles an addon into a folder of its own. The folder is there once the addon computes what its library computes.
 *
 * @throws ValidationError if it is there; UnavailableError naming what is missing and what to do; ProcessDiedError for
 *   a compiler that fails.
 */
export async function installAddon(name: AddonName, options: InstallAddonOptions): Promise<void> {
  const { progress, signal, prove } = options;
  const assertFree = () => assertAbsent(name);
  await buildFolder(locateAddon(name), UNFINISHED_BACKEND, assertFree, async (folder, around) => {
    refuseSystem(name);
    const temporary = join(around, 'temporary');
    makeFolder(temporary);
    const run = { folder: temporary, environment: { TMPDIR: temporary }, signal };
    try {
      const stage = progress('compile', 1);
      await compile(name, join(folder, `${name}.node`), run);
      stage.finish();
      writeAtomic(join(folder, ADDON_RECORD), `${JSON.stringify(await createRecord(name, run), null, 2)}\n`);
      await prove(around);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
}

/** Deletes an addon, and what an unfinished attempt left. @returns true if there was anything to delete. */
export function removeAddon(name: AddonName): boolean {
  return removeBuiltFolder(locateAddon(name), UNFINISHED_BACKEND, ADDON_RECORD);
}

function assertAbsent(name: AddonName): void {
  const folder = locateAddon(name);
  if (!existsSync(folder)) return;
  const remedy = `to make it again, run ragpp backend remove ${name}`;
  throw new ValidationError(`${name} is installed: ${folder}; ${remedy}`, { name, folder });
}

function refuseSystem(name: AddonName): void {
  const { platform, arch } = process;
  if (arch !== 'x64' || platform !== 'linux')
    throw new UnavailableError(
      `backend ${name}`,
      `it is written for Linux on x86-64, this is ${platform} on ${arch}; ${ADDONS[name].library} computes the same`,
    );
  if (!isProgramFound('c++'))
    throw new UnavailableError(`backend ${name}`, 'not in PATH: c++; apt-get install build-essential');
}

/** The folder of `node_api.h`: that of this Node, or from npm. */
async function findHeaders(name: AddonName, run: ExternalRun): Promise<string> {
  const own = join(dirname(dirname(process.execPath)), 'include', 'node');
  if (existsSync(join(own, 'node_api.h'))) return own;
  try {
    await runExternal('npm', ['install', '--prefix', run.folder, '--ignore-scripts', '--no-audit', HEADERS], run);
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || run.signal.aborted) throw error;
    const reason = `npm could not download ${HEADERS}: ${findErrorLine(error.output)}`;
    const remedy = 'check the network and the registry of npm (npm config get registry), and run it again';
    throw new UnavailableError(`backend ${name}`, `${reason}; ${remedy}`, { cause: error });
  }
  return join(run.folder, 'node_modules', 'node-api-headers', 'include');
}

async function compile(name: AddonName, target: string, run: ExternalRun): Promise<void> {
  const folders = [join(findLibraryFolder(name), ADDONS[name].headers), await findHeaders(name, run)];
  const words = [...COMPILE, ...folders.map((folder) => `-I${folder}`), join(findAddonSource(name), 'addon.cc')];
  try {
    await runExternal('c++', [...words, '-o', target], run);
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || run.signal.aborted) throw error;
    throw new ProcessDiedError(
      `backend ${name}: ${error.message}: ${findErrorLine(error.output)}; update the compiler and run it again`,
      { output: error.output },
    );
  }
}

async function createRecord(name: AddonName, run: ExternalRun): Promise<AddonRecord> {
  const [compiler = ''] = (await runExternal('c++', ['--version'], run)).split('\n');
  return { name, ...describeAddonOrigin(name), node: process.version, compiler };
}
