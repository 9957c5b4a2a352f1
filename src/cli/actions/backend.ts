import { ExternalProgramError } from '../../core/backends/external-program.ts';
import { installAddon, removeAddon } from '../../core/backends/install-addon.ts';
import { installBackend } from '../../core/backends/install-backend.ts';
import {
  describeLibraries,
  type InstalledBackend,
  listInstalled,
  locateBackend,
  removeInstalled,
} from '../../core/backends/installed-backends.ts';
import { ADDONS, type AddonName, locateAddon } from '../../core/backends/native-addon.ts';
import { ProcessDiedError, ValidationError } from '../../core/errors/errors.ts';
import {
  BACKEND_PACKAGES,
  type BackendName,
  findBackendsFolder,
  INSTALLABLE,
  type InstallableBackend,
} from '../../core/tensors/active-backend.ts';
import { probeBackends, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut, type StartProgress } from '../../core/terminal/progress.ts';
import {
  describeDevice,
  GRADIENT_TOLERANCE,
  measureGradientError,
  verifyTensors,
} from '../../lab/verification/backend-proof.ts';
import { checkElsewhere, findReason, tryBackend } from '../process/backend-process.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck, interruption } from '../process/supervision.ts';
import { checkHnsw, listAddons } from './backend-hnsw.ts';

/** A tensor backend, or an addon. */
type Installable = InstallableBackend | AddonName;

const isAddon = (name: string): name is AddonName => Object.hasOwn(ADDONS, name);

const formatMebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);

/** @throws ProcessDiedError if the backend does not compute in another process. */
async function prove(name: Installable, cache: string, progress: StartProgress): Promise<void> {
  const stage = progress('compute in another process', 1);
  try {
    printOut(await checkElsewhere(name, [], { RAGPP_CACHE: cache }));
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || interruption.aborted) throw error;
    throw new ProcessDiedError(`backend ${name} was made, but cannot be used: ${findReason(error)}`, { name });
  }
  stage.finish();
}

export async function install(name: Installable, { withoutLibraries }: { withoutLibraries?: true }): Promise<void> {
  const progress = createTerminalProgress();
  const options = { progress, signal: interruption, prove: (cache: string) => prove(name, cache, progress) };
  try {
    if (isAddon(name)) await installAddon(name, options);
    else await installBackend(name, { ...options, libraries: withoutLibraries !== true });
  } catch (error) {
    if (interruption.aborted) throw new FailedCheck('interrupted');
    throw error;
  }
  if (isAddon(name))
    printOut(`installed ${name} in ${locateAddon(name)}\nit is used in place of ${ADDONS[name].library}\n`);
  else printOut(`installed ${name} in ${locateBackend(name)}\nrun with --backend ${name}; auto tries it, too\n`);
}

/** The packages that register kernels, and the build of TensorFlow, with their versions. */
function describeVersions({ name, packages, wheels }: InstalledBackend): string {
  const main = packages.filter((one) => BACKEND_PACKAGES[name].some((wanted) => wanted === one.name));
  const [tensorflow] = wheels;
  const found = [...main, ...(tensorflow === undefined ? [] : [tensorflow])];
  const versions = found.map((one) => `${one.name.replace('@tensorflow/', '')} ${one.version}`);
  return [...versions, ...(name === 'cuda' ? [describeLibraries() ?? 'without CUDA'] : [])].join(', ');
}

export async function list(): Promise<void> {
  const installed = [
    ...listInstalled().map((backend) => ({ ...backend, versions: describeVersions(backend) })),
    ...listAddons(),
  ];
  const rows: string[][] = [];
  const faults: string[] = [];
  for (const backend of installed) {
    const { isUsable, remark } = await tryBackend(backend.name);
    if (!isUsable) faults.push(`${backend.name} does not load: ${remark}\n`);
    const size = formatMebibytes(backend.bytes);
    rows.push([backend.name, isUsable ? remark : 'does not load', size, backend.versions, backend.folder]);
  }
  if (rows.length === 0) printOut(`no backend in ${findBackendsFolder()}\n`);
  else printOut(`${alignColumns([['backend', 'computes with', 'MiB', 'versions', 'folder'], ...rows])}\n`);
  for (const fault of faults) printOut(fault);
  for (const { name, available, reason } of probeBackends())
    if (INSTALLABLE.some((one) => one === name) && !installed.some((one) => one.name === name))
      printOut(available ? `${name} is in ${reason}\n` : `not installed: ${name}; ragpp backend install ${name}\n`);
  for (const name of Object.keys(ADDONS))
    if (!installed.some((one) => one.name === name))
      printOut(`not installed: ${name}; ragpp backend install ${name}\n`);
}

/** @throws ValidationError if there is nothing to delete. */
export function remove(name: Installable): void {
  if (!(isAddon(name) ? removeAddon(name) : removeInstalled(name)))
    throw new ValidationError(`no installed backend: ${name}; ragpp backend list shows those that are there`, { name });
  printOut(`removed ${name}\n`);
}

/** @throws FailedCheck for a backend that computes something else. */
export async function check(name: BackendName | AddonName, { load }: { readonly load?: true }): Promise<void> {
  if (isAddon(name)) return checkHnsw(load === true);
  await useBackend(name);
  printOut(`${name}: ${describeDevice()}\n`);
  if (load) return;
  const error = await measureGradientError();
  const reports = await verifyTensors(createTerminalProgress());
  const failures = reports.flatMap(({ topic, failures: found }) => found.map((failure) => `${topic}: ${failure}`));
  const cases = reports.reduce((sum, report) => sum + report.cases, 0);
  printOut(`gradient of a product: differs by ${error.toExponential(1)} at most, tolerance ${GRADIENT_TOLERANCE}\n`);
  for (const failure of failures) printOut(`${failure}\n`);
  printOut(
    `golden cases: ${cases - failures.length} of ${cases} pass, in ${reports.map(({ topic }) => topic).join(', ')}\n`,
  );
  if (failures.length > 0 || !(error <= GRADIENT_TOLERANCE)) throw new FailedCheck('a computation');
}
