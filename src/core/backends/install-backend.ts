import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ProcessDiedError, UnavailableError, ValidationError } from '../errors/errors.ts';
import { buildFolder, measureFolder } from '../files/built-folder.ts';
import { makeFolder, readText, writeAtomic } from '../files/files.ts';
import type { InstallableBackend } from '../tensors/active-backend.ts';
import { probeBackends } from '../tensors/backend.ts';
import type { Progress, StartProgress } from '../terminal/progress.ts';
import { ExternalProgramError, findErrorLine, runExternal } from './external-program.ts';
import { type BackendRecord, locateBackend, RECORD_FILE, UNFINISHED_BACKEND } from './installed-backends.ts';
import { RECIPES, type Recipe, type Wheel } from './recipes.ts';
import { assertRequirements } from './requirements.ts';

/** Options of {@link installBackend}. */
export interface InstallOptions {
  /** False: the libraries of CUDA are those of the system, or there is no card. */
  readonly libraries: boolean;
  readonly progress: StartProgress;
  /** Ends the programs that were started. */
  readonly signal: AbortSignal;
  /**
   * Computes with the backend in another process.
   *
   * @param cache the folder that RAGPP_CACHE names there.
   */
  readonly prove: (cache: string) => Promise<void>;
}

/** One backend that is being made. */
interface Making extends InstallOptions {
  readonly name: InstallableBackend;
  readonly recipe: Recipe;
  /** That becomes the folder of the backend. */
  readonly folder: string;
  /** Around it: what the next attempt reuses, and temporary files. */
  readonly around: string;
}

/**
 * Makes a backend in a folder of its own: downloads its packages from npm and, where it has a native part, the build
 * of TensorFlow from PyPI, against which that part is built from source. The folder is there once the backend computes
 * in another process. Wheels that were downloaded stay for the next attempt.
 *
 * @throws ValidationError if the backend is there; UnavailableError naming what is missing and what to do;
 *   ProcessDiedError for a build that fails.
 */
export async function installBackend(name: InstallableBackend, options: InstallOptions): Promise<void> {
  const recipe = RECIPES[name];
  await buildFolder(
    locateBackend(name),
    UNFINISHED_BACKEND,
    () => assertAbsent(name),
    async (folder, around) => {
      const making: Making = { ...options, name, recipe, folder, around };
      await make(making);
      await options.prove(around);
    },
  );
}

function assertAbsent(name: InstallableBackend): void {
  const probe = probeBackends().find((one) => one.name === name);
  const folder = locateBackend(name);
  const there = probe?.available === true ? probe.reason : existsSync(folder) ? folder : null;
  if (there === null) return;
  throw new ValidationError(
    `backend ${name} is installed: ${there}; to make it again, run ragpp backend remove ${name} or uninstall the package`,
    { name, folder: there },
  );
}

async function make(making: Making): Promise<void> {
  const { name, recipe, folder, around, libraries, signal } = making;
  const { addon } = recipe;
  const wheels = addon === undefined ? [] : [addon.tensorflow, ...(libraries ? addon.libraries : [])];
  await assertRequirements(name, recipe, wheels, { folder: around, signal });
  const temporary = join(around, 'temporary');
  makeFolder(temporary);
  try {
    const files = await downloadWheels(making, wheels);
    await installPackages(making);
    if (addon !== undefined) await buildAddon(making, addon.package, files);
    writeAtomic(join(folder, RECORD_FILE), `${JSON.stringify(createRecord(making, wheels), null, 2)}\n`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Runs a program with temporary files of its own. @throws ExternalProgramError. */
function run({ around, signal }: Making, command: string, words: readonly string[], folder: string, more = {}) {
  const environment = { TMPDIR: join(around, 'temporary'), ...more };
  return runExternal(command, words, { folder, environment, signal });
}

/** Runs a program whose failure is an error of the network or of its settings. */
async function bring(
  making: Making,
  command: string,
  words: readonly string[],
  folder: string,
  what: string,
  remedy: string,
) {
  try {
    await run(making, command, words, folder);
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || making.signal.aborted) throw error;
    const reason = `${command} could not download ${what}: ${findErrorLine(error.output)}`;
    throw new UnavailableError(`backend ${making.name}`, `${reason}; ${remedy}`, { cause: error });
  }
}

/** Wheels of Python 3.11, whichever Python is here: their libraries do not depend on it, and they are not installed. */
const PIP = [
  ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-cache-dir', '--no-deps'],
  ...['--only-binary=:all:', '--python-version', '3.11', '--implementation', 'cp', '--abi', 'cp311', '--abi', 'none'],
  ...['2_27', '2_17', '2014'].flatMap((glibc) => [
    '--platform',
    `manylinux${glibc === '2014' ? '' : '_'}${glibc}_x86_64`,
  ]),
];
const PIP_REMEDY = 'check the network and the index of pip (python3 -m pip config list), and run it again';

/** Downloads wheels one after the other, so that an interruption keeps those that are whole. @returns their paths. */
async function downloadWheels(making: Making, wheels: readonly Wheel[]): Promise<string[]> {
  const { around, progress } = making;
  if (wheels.length === 0) return [];
  const folder = join(around, 'wheels');
  makeFolder(folder);
  const stage = progress('download wheels, MiB', toMib(wheels.reduce((sum, { bytes }) => sum + bytes, 0)));
  const timer = setInterval(() => reportBytes(stage, around), 500);
  try {
    for (const wheel of wheels) await downloadWheel(making, wheel, folder);
  } finally {
    clearInterval(timer);
  }
  stage.finish();
  return wheels.map((wheel) => findWheel(wheel, folder));
}

function reportBytes(stage: Progress, folder: string): void {
  try {
    stage.update(toMib(measureFolder(folder).bytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // pip has just removed a temporary folder
  }
}

const toMib = (bytes: number) => Math.round(bytes / 2 ** 20);

async function downloadWheel(making: Making, { name, version, sha256 }: Wheel, folder: string): Promise<void> {
  const wanted = `${name}==${version}`;
  const list = join(making.around, 'temporary', 'requirements.txt');
  writeAtomic(list, `${wanted} --hash=sha256:${sha256}\n`);
  const words = [...PIP, '--require-hashes', '--dest', folder, '--requirement', list];
  await bring(making, 'python3', words, folder, wanted, PIP_REMEDY);
}

function findWheel({ name, version }: Wheel, folder: string): string {
  const start = `${name.replaceAll('-', '_')}-${version}-`;
  return join(folder, readdirSync(folder).find((file) => file.startsWith(start)) as string);
}

/** Installs packages without their scripts, which would download a TensorFlow for CUDA 11.2 or build nothing. */
async function installPackages(making: Making): Promise<void> {
  const { name, recipe, folder, progress } = making;
  writeAtomic(join(folder, 'package.json'), `${JSON.stringify({ private: true, name: `ragpp-backend-${name}` })}\n`);
  const stage = progress('install packages', 1);
  const words = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const remedy = 'check the network and the registry of npm (npm config get registry), and run it again';
  await bring(making, 'npm', [...words, ...recipe.packages], folder, recipe.packages.join(' '), remedy);
  stage.finish();
}

/**
 * Takes from wheels what the native part is linked against, and the libraries of NVIDIA, which lie where TensorFlow
 * looks for them: in `../nvidia` beside the folder of its own. Words: the target, the wheels.
 */
const UNPACK = String.raw`
import re, shutil, sys
from pathlib import Path
from zipfile import ZipFile

rules = (
    ('lib', r'tensorflow/(libtensorflow_(?:cc|framework)\.so\.2)'),
    ('include', r'tensorflow/include/((?:tensorflow/c|xla/tsl/c)/.*\.h|(?:tensorflow/core|tsl)/platform/ctstring.*\.h)'),
    ('nvidia', r'nvidia/(?!.*/include/)(.*[^/])'),
)
for path in sys.argv[2:]:
    with ZipFile(path) as wheel:
        for entry in wheel.infolist():
            for folder, pattern in rules:
                if found := re.fullmatch(pattern, entry.filename):
                    target = Path(sys.argv[1], folder, found[1])
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with wheel.open(entry) as content, target.open('wb') as file:
                        shutil.copyfileobj(content, file, 2**20)
                    target.chmod(entry.external_attr >> 16 & 0o777 or 0o644)
`;

/** The names by which the native part is linked against the libraries of TensorFlow. */
const LINKS = {
  'libtensorflow.so': 'libtensorflow_cc.so.2',
  'libtensorflow_framework.so': 'libtensorflow_framework.so.2',
};

/** Builds the native part of a package from source. @throws ProcessDiedError if it cannot be built. */
async function buildAddon(making: Making, name: string, wheels: readonly string[]): Promise<void> {
  const packageFolder = join(making.folder, 'node_modules', name);
  const deps = join(packageFolder, 'deps');
  const unpacking = making.progress('unpack wheels', 1);
  await work(making, 'unpack', 'python3', ['-c', UNPACK, deps, ...wheels], making.folder);
  for (const [link, target] of Object.entries(LINKS)) symlinkSync(target, join(deps, 'lib', link));
  unpacking.finish();
  const building = making.progress('build the native part', 1);
  await work(making, 'build', 'npm', ['run', 'build-addon-from-source'], packageFolder, findNodeHeaders());
  for (const rest of ['build', join('deps', 'include')])
    rmSync(join(packageFolder, rest), { recursive: true, force: true });
  building.finish();
}

/** Points node-gyp to the headers that lie beside this Node, so that it downloads none. */
function findNodeHeaders(): Readonly<Record<string, string>> {
  const root = dirname(dirname(process.execPath));
  return existsSync(join(root, 'include', 'node', 'node_api.h')) ? { npm_config_nodedir: root } : {};
}

/** Runs a program that works on what was downloaded; its output stays in a file if it fails. */
async function work(
  making: Making,
  step: string,
  command: string,
  words: readonly string[],
  folder: string,
  more = {},
) {
  try {
    await run(making, command, words, folder, more);
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || making.signal.aborted) throw error;
    const log = join(making.around, `${step}.log`);
    writeAtomic(log, error.output);
    throw new ProcessDiedError(
      `backend ${making.name}: ${error.message} (${step}): ${findErrorLine(error.output)}; see ${log}, and run it again`,
      { step, log },
    );
  }
}

/** The packages that npm has installed, with the hashes that it compared. */
function listPackages(folder: string): BackendRecord['packages'] {
  const { packages } = JSON.parse(readText(join(folder, 'node_modules', '.package-lock.json'))) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  return Object.entries(packages).map(([path, { version, integrity }]) => {
    return { name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), version, integrity };
  });
}

function createRecord({ name, folder }: Making, wheels: readonly Wheel[]): BackendRecord {
  return { name, packages: listPackages(folder), wheels: [...wheels], node: process.version };
}
