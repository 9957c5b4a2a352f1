import { type ConfigurationFault, locatePath, RagPlusPlusError } from '../../core/errors/errors.ts';
import { isPlain, type Path, type Plain, readYaml } from '../composition/config-file.ts';

/**
 * Replaces the name of a file in `slice.policy` by its content, so that a resolved config is complete.
 *
 * @param folderOf the folder of the file that wrote a value of the arm, or null.
 * @returns the arm, or the fault with the path within it.
 */
export function withPolicyFile(
  arm: Plain,
  folderOf: (keys: Path) => string | null,
): { readonly arm: Plain; readonly faults: ConfigurationFault[] } {
  const { slice } = arm;
  if (!isPlain(slice) || typeof slice.policy !== 'string') return { arm, faults: [] };
  const folder = folderOf(['slice', 'policy']);
  try {
    return { arm: { ...arm, slice: { ...slice, policy: readYaml(locatePath(slice.policy, folder)) } }, faults: [] };
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    const locations = folder === null ? '' : `, relative to ${folder} or to the working directory`;
    const expected = `a policy or a file with one${locations} (${error.message})`;
    return { arm, faults: [{ path: 'slice.policy', expected, got: JSON.stringify(slice.policy) }] };
  }
}
