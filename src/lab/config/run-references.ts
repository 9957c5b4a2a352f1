import { type ConfigurationFault, locatePath, RagPlusPlusError } from '../../core/errors/errors.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import { isPlain, type Path, type Plain, readYaml } from '../composition/config-file.ts';

/** Documents of each query that an arm takes from its run file, if it does not say how many. */
export const ARM_DEPTH = 1000;

/** Finds the folder of the file that wrote a value of the arm; null outside of files. */
type FindFolder = (keys: Path) => string | null;

/** The keys of a source that name a file, with what the file is. */
interface NamedFile {
  readonly keyPath: string;
  readonly noun: string;
  readonly file: unknown;
  /** The source whose path leads to the file, with the hash of its content. @throws RagPlusPlusError for a file that cannot be read. */
  readonly resolve: (folder: string | null) => Plain;
}

function locateFile(file: unknown, hash: unknown, folder: string | null) {
  const path = locatePath(file as string, folder);
  return { path, hash: typeof hash === 'string' ? hash : hashRunFile({ path }) };
}

/** The file that a source names: of rankings, or of the concepts of a graph; null for none, and for an error of the schema. */
function findNamedFile(source: unknown): NamedFile | null {
  if (!isPlain(source)) return null;
  const { index, path: run, hash: stated, concepts } = source;
  if (index === 'run' && typeof run === 'string')
    return {
      ...{ keyPath: 'path', noun: 'a run file', file: run },
      resolve: (folder) => ({ ...source, ...locateFile(run, stated, folder) }),
    };
  if (index !== 'graph' || !isPlain(concepts) || typeof concepts.file !== 'string') return null;
  return {
    ...{ keyPath: 'concepts.file', noun: 'a file of concepts', file: concepts.file },
    resolve: (folder) => {
      const { path, hash } = locateFile(concepts.file, concepts.hash, folder);
      return { ...source, concepts: { ...concepts, file: path, hash } };
    },
  };
}

function describeMissing(path: string, { noun, file }: NamedFile, folder: string | null, error: RagPlusPlusError) {
  const locations = folder === null ? '' : `, relative to ${folder} or to the working directory`;
  return { path, expected: `${noun}${locations} (${error.message})`, got: shortenToExcerpt(file) };
}

/** A source of a step `search` by its name: `run: file` is short for its path. */
function nameSource(name: string, written: unknown): unknown {
  if (!isPlain(written)) return written;
  const { file, ...rest } = written;
  const { index = name } = rest;
  if (index !== 'run') return { index, ...rest };
  return {
    index,
    ...(file === undefined ? {} : { path: file }),
    ...(rest.k === undefined ? { k: ARM_DEPTH } : {}),
    ...rest,
  };
}

/**
 * Gives every source of a run file or of a file of concepts the path of the file and the hash of its content. So the
 * key of a cached result, and the hash of the experiment, cover the content of the file.
 *
 * @returns the arm, and the faults with the path within it.
 */
export function withSourceFiles(
  arm: Plain,
  findFolder: FindFolder,
): { readonly arm: Plain; readonly faults: readonly ConfigurationFault[] } {
  if (!isPlain(arm.search)) return { arm, faults: [] };
  const faults: ConfigurationFault[] = [];
  const search: Plain = {};
  for (const [name, options] of Object.entries(arm.search)) {
    const source = nameSource(name, options);
    const named = findNamedFile(source);
    search[name] = source;
    if (named === null) continue;
    const keyPath = isPlain(options) && Object.hasOwn(options, 'file') ? 'file' : named.keyPath;
    const folder = findFolder(['search', name, ...keyPath.split('.')]);
    try {
      search[name] = named.resolve(folder);
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      faults.push(describeMissing(`search.${name}.${keyPath}`, named, folder, error));
    }
  }
  return { arm: { ...arm, search }, faults };
}

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
