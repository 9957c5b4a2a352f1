import { ValidationError } from '../../core/errors/errors.ts';
import type { Dataset } from '../../model/dataset.ts';
import { buildExportDataset, type ExportOptions } from '../exports/export-dataset.ts';
import { type ExportFile, findExportFiles, readExport } from '../exports/export-files.ts';
import { readJson } from '../exports/export-json.ts';
import { Counts } from '../prepared/counts.ts';
import { CAST_LICENCE, type CastQueryText } from '../prepared/datasets.ts';
import { castTopics, listCastMessages } from './cast-topics.ts';

/** The file of topic trees, and whether a user's turn is asked as uttered or as rewritten by the organisers. */
export interface CastOptions extends ExportOptions {
  /** The text by which a user's turn is asked: as it was said, or rewritten so that it can be understood alone. */
  readonly queryText: CastQueryText;
}

/**
 * The topic trees of TREC CAsT 2022. Times are made up. See docs/datasets/cast.md.
 *
 * @throws ValidationError for a file of another form, and if no query is left; StorageError if the file cannot be read.
 */
export async function loadCast({ path, queryText, ...choice }: CastOptions): Promise<Dataset> {
  const counts = new Counts();
  const messages = await readExport(path, async (files) => {
    const [file, ...others] = findExportFiles(files, /^\d{4}_evaluation_topics_tree\S*\.json$/, 'file of topic trees');
    if (others.length > 0) throw createSeveralError(path, [file as NonNullable<typeof file>, ...others]);
    const topics = await readJson(file as NonNullable<typeof file>, castTopics, 'a file of topic trees');
    return listCastMessages(topics, queryText, counts);
  });
  return buildExportDataset(
    {
      name: 'cast',
      path,
      licence: CAST_LICENCE,
      features: [
        queryText === 'utterance' ? 'text' : 'text (of queries: rewritten by who knew what was said before)',
        'order within a tree (times are made up from it)',
        'author (role)',
        'earlier reply links',
      ],
      times: 'order',
    },
    messages,
    choice,
    counts,
  );
}

/** Two versions have the same ids, so that only one can be read. */
function createSeveralError(path: string, files: readonly ExportFile[]): ValidationError {
  const names = files.map(({ name }) => name);
  return new ValidationError(`several files of topic trees in: ${path} (${names.join(', ')}); name one of them`, {
    path,
    names,
  });
}
