import { Command } from 'commander';
import { cacheOption, lazyAction } from './options/options.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('let agents use a memory, which answers by its arm')
    .argument('<folder>', 'the folder of a memory that was given an arm by ragpp memory open')
    .option('--mcp', 'its tools for the Model Context Protocol, over standard input and output')
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Ends with its input, with SIGTERM or Ctrl-C. Needs npm install @modelcontextprotocol/server.

Example:
  ragpp serve notes --mcp`,
    )
    .action(lazyAction(async () => (await import('./actions/serve-mcp.ts')).runServe));
}
