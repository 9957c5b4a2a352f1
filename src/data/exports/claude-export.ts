import type { Dataset } from '../../model/dataset.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { loadAssistantExport } from './assistant-export.ts';
import { listClaudeMessages } from './claude-chats.ts';
import type { ExportOptions } from './export-dataset.ts';

/**
 * Your own chats with Claude, with all branches where the export has them. See docs/datasets/claude-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadClaudeExport(
  options: ExportOptions,
  context: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const assistant = {
    name: 'claude-export',
    product: 'Claude',
    file: /^conversations\.json$/,
    listMessages: listClaudeMessages,
  };
  return loadAssistantExport(assistant, options, context);
}
