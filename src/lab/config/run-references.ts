import { type ConfigurationFault, RagPlusPlusError } from '../../core/errors/errors.ts';
import { locatePath } from '../../core/errors/located-path.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import { type ExpandedArm, hasValueAt } from '../composition/arms.ts';
import { isPlain, type Path, type Plain } from '../composition/config-file.ts';

/** Documents of each query that an arm takes from its run file, if it does not say how many. */
export const ARM_DEPTH = 1000;

/** Finds the folder of the file that wrote a value of the arm; null outside of files. */
type FindFolder = (keys: Path) => string | null;

/** The keys of a source that name a file, with what the file is. */
interface NamedFile {
  readonly place: string;
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
      ...{ place: 'path', noun: 'a run file', file: run },
      resolve: (folder) => ({ ...source, ...locateFile(run, stated, folder) }),
    };
  if (index !== 'graph' || !isPlain(concepts) || typeof concepts.file !== 'string') return null;
  return {
    ...{ place: 'concepts.file', noun: 'a file of concepts', file: concepts.file },
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

/** Gives the sources of the step `search` the paths of their files and the hashes of the contents. */
function withSourceFiles(arm: Plain, findFolder: FindFolder): { arm: Plain; faults: ConfigurationFault[] } {
  if (!isPlain(arm.search)) return { arm, faults: [] };
  const faults: ConfigurationFault[] = [];
  const search: Plain = {};
  for (const [name, options] of Object.entries(arm.search)) {
    const source = nameSource(name, options);
    const named = findNamedFile(source);
    search[name] = source;
    if (named === null) continue;
    const place = isPlain(options) && Object.hasOwn(options, 'file') ? 'file' : named.place;
    const folder = findFolder(['search', name, ...place.split('.')]);
    try {
      search[name] = named.resolve(folder);
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      faults.push(describeMissing(`search.${name}.${place}`, named, folder, error));
    }
  }
  return { arm: { ...arm, search }, faults };
}

/** The keys of an arm that `run` sets. */
const SET_BY_RUN = ['candidates', 'relevance'] as const;
type SetByRun = (typeof SET_BY_RUN)[number];

/** Which of the keys that `run` sets are written in the same arm as it, and which by an arm that extends that one. */
function findWriters({ layers }: Pick<ExpandedArm, 'layers'>): Readonly<Record<'same' | 'later', readonly SetByRun[]>> {
  const lastOf = (key: string) => layers.findLastIndex((layer) => hasValueAt(layer, [key]));
  const run = lastOf('run');
  return {
    same: SET_BY_RUN.filter((key) => lastOf(key) === run),
    later: SET_BY_RUN.filter((key) => lastOf(key) > run),
  };
}

/** `run: file` or `run: { file, k }` of an arm as the source and the signal that it stands for. */
function expandRun({ run, ...arm }: Plain, later: readonly SetByRun[]): Plain | null {
  const { file, k = ARM_DEPTH, ...others } = isPlain(run) ? run : { file: run };
  if (typeof file !== 'string' || Object.keys(others).length > 0) return null;
  const set = { candidates: [{ index: 'run', path: file, k }], relevance: { signals: ['run'] } };
  return { ...arm, ...Object.fromEntries(Object.entries(set).filter(([key]) => !later.includes(key as SetByRun))) };
}

/**
 * Writes out `run` of an arm, and gives every source of a run file or of a file of concepts the path of the file and the hash of its content. So the key of a cached
 * result, and the hash of the experiment, cover the content of the file.
 *
 * @param layers of the arm: an arm that extends one with a run may write sources or signals of its own.
 * @returns the arm, or the faults with the path within it.
 */
export function withRunFiles(
  written: Plain,
  layers: Pick<ExpandedArm, 'layers'>,
  findFolder: FindFolder,
): { readonly arm: Plain; readonly faults: ConfigurationFault[] } {
  if (Array.isArray(written.steps)) return withSourceFiles(written, findFolder);
  const isShort = written.run !== undefined && written.run !== null;
  const { run: _, ...rest } = written;
  const { same, later } = isShort ? findWriters(layers) : { same: [], later: [] };
  const arm = isShort ? expandRun(written, later) : rest;
  if (arm === null || same.length > 0) {
    const expected = arm === null ? 'a run file, or { file, k }' : `no run beside ${same.join(' and ')}, which it sets`;
    return { arm: arm ?? rest, faults: [{ path: 'run', expected, got: shortenToExcerpt(written.run) }] };
  }
  if (!Array.isArray(arm.candidates)) return { arm, faults: [] };
  const isRuns = isShort && !later.includes('candidates');
  const folder = findFolder(isRuns ? ['run'] : ['candidates']);
  const faults: ConfigurationFault[] = [];
  const candidates = arm.candidates.map((source: unknown, i) => {
    const named = findNamedFile(source);
    if (named === null) return source;
    try {
      return named.resolve(folder);
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      faults.push(describeMissing(isRuns ? 'run' : `candidates[${i}].${named.place}`, named, folder, error));
      return source;
    }
  });
  return { arm: { ...arm, candidates }, faults };
}
