import { z } from 'zod';
import { ignoreProgress, letEventsIn, mapWithBreaks } from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { buildExportDataset, type ExportOptions } from './export-dataset.ts';
import { findExportFiles, readExport, readJson } from './export-files.ts';
import type { SourceMessage } from './source-message.ts';

/** An assistant whose chats are exported as a list of chats. */
export interface Assistant {
  /** Of the dataset. */
  readonly name: string;
  /** For messages. */
  readonly product: string;
  /** The names of the files with chats. */
  readonly file: RegExp;
  readonly listMessages: (rows: readonly unknown[], counts: Counts) => SourceMessage[];
}

/**
 * The dataset of the chats with an assistant.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadAssistantExport(
  { name, product, file, listMessages }: Assistant,
  { path, ...choice }: ExportOptions,
  { progress = ignoreProgress }: Partial<DatasetContext>,
): Promise<Dataset> {
  const counts = new Counts();
  const messages = await readExport(path, async (files) => {
    const rows: unknown[] = [];
    const expected = `the conversations.json of an export of ${product}`;
    const all = findExportFiles(files, file, 'conversations.json');
    const stage = progress('files of chats', all.length);
    await mapWithBreaks(all, stage, async (found) => {
      for (const row of await readJson(found, z.array(z.unknown()), expected)) rows.push(row);
    });
    stage.finish(`${rows.length} chats`);
    await letEventsIn();
    return listMessages(rows, counts);
  });
  const features = ['text', 'time', 'author (role)', 'earlier reply links'];
  return buildExportDataset({ name, path, features, siblings: 'versions' }, messages, choice, counts);
}
