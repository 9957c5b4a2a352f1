import { createExportSchema } from '../exports/export-options.ts';

export const slackExport = {
  options: createExportSchema('slack-export', 'replies', {}),
  description: 'a Slack workspace, an export: a message of a thread must find the message that opened it',
  licence: 'yours',
  source: 'Workspace settings, Import/Export data, as docs/datasets/slack-export.md says',
};
