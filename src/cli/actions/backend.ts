import { ExternalProgramError } from '../../core/backends/external-program.ts';
import { installBackend } from '../../core/backends/install-backend.ts';
import {
  describeLibraries,
  type InstalledBackend,
  listInstalled,
  locateBackend,
  removeInstalled,
} from '../../core/backends/installed-backends.ts';
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

const formatMebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);

/** @throws ProcessDiedError if the backend does not compute in another process. */
async function prove(name: InstallableBackend, cache: string, progress: StartProgress): Promise<void> {
  const stage = progress('compute in another process', 1);
  try {
    printOut(await checkElsewhere(name, [], { RAGPP_CACHE: cache }));
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || interruption.aborted) throw error;
    throw new ProcessDiedError(`backend ${name} was made, but cannot be used: ${findReason(error)}`, { name });
  }
  stage.finish();
}

export async function install(
  name: InstallableBackend,
  { withoutLibraries }: { withoutLibraries?: true },
): Promise<void> {
  const progress = createTerminalProgress();
  try {
    await installBackend(name, {
      libraries: withoutLibraries !== true,
      progress,
      signal: interruption,
      prove: (cache) => prove(name, cache, progress),
    });
  } catch (error) {
    if (interruption.aborted) throw new FailedCheck('interrupted');
    throw error;
  }
  printOut(`installed ${name} in ${locateBackend(name)}\nrun with --backend ${name}; auto tries it, too\n`);
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
  const installed = listInstalled();
  const rows: string[][] = [];
  const faults: string[] = [];
  for (const backend of installed) {
    const { isUsable, remark } = await tryBackend(backend.name);
    if (!isUsable) faults.push(`${backend.name} does not load: ${remark}\n`);
    const size = formatMebibytes(backend.bytes);
    rows.push([backend.name, isUsable ? remark : 'does not load', size, describeVersions(backend), backend.folder]);
  }
  if (rows.length === 0) printOut(`no backend in ${findBackendsFolder()}\n`);
  else printOut(`${alignColumns([['backend', 'computes with', 'MiB', 'versions', 'folder'], ...rows])}\n`);
  for (const fault of faults) printOut(fault);
  for (const { name, available, reason } of probeBackends())
    if (INSTALLABLE.some((one) => one === name) && !installed.some((one) => one.name === name))
      printOut(available ? `${name} is in ${reason}\n` : `not installed: ${name}; ragpp backend install ${name}\n`);
}

/** @throws ValidationError if there is nothing to delete. */
export function remove(name: InstallableBackend): void {
  if (!removeInstalled(name))
    throw new ValidationError(`no installed backend: ${name}; ragpp backend list shows those that are there`, { name });
  printOut(`removed ${name}\n`);
}

/** @throws FailedCheck for a backend that computes something else. */
export async function check(name: BackendName, { load }: { readonly load?: true }): Promise<void> {
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
