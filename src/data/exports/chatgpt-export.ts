import type { Dataset } from '../../model/dataset.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { loadAssistantExport } from './assistant-export.ts';
import { listChatGptMessages } from './chatgpt-chats.ts';
import type { ExportOptions } from './export-dataset.ts';

/**
 * Your own chats with ChatGPT, with all branches. See docs/datasets/chatgpt-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadChatGptExport(
  options: ExportOptions,
  context: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const assistant = {
    name: 'chatgpt-export',
    product: 'ChatGPT',
    file: /^conversations(-\d+)?\.json$/,
    listMessages: listChatGptMessages,
  };
  return loadAssistantExport(assistant, options, context);
}
