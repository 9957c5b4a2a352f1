import { join, resolve } from 'node:path';
import { formatUserWeights } from '../../rank/learning/user-weights-file.ts';
import { writeWeights } from '../../rank/learning/weight-file.ts';
import { PartialFolder, type RunFiles } from '../run/partial-folder.ts';
import type { FinishedTraining } from './training-run.ts';

/**
 * Puts `<results>/<name>-<hash>/` in place as a whole: the files of a run, and the weights. Figures of earlier weights
 * on the test split are removed with them. The list of looks beside the folder still counts that look, since the same
 * config makes the same weights.
 *
 * @param files those of a run, by name.
 * @returns the folder.
 * @throws StorageError naming the folder; UnavailableError while another process writes it.
 */
export function writeTrainingFolder(results: string, finished: FinishedTraining, files: RunFiles): string {
  const { result, users, weights } = finished;
  const { users: own } = result;
  const folder = PartialFolder.open(resolve(results, `${result.name}-${result.hash}`), 'fresh');
  try {
    for (const [file, learned] of weights) writeWeights(join(folder.path, file), learned);
    const learned = users === null || own === undefined ? {} : { [own.file]: formatUserWeights(users) };
    folder.finish({ ...files, ...learned });
  } catch (error) {
    folder.remove();
    throw error;
  }
  return folder.target;
}
