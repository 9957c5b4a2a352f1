import { Command, Option } from 'commander';
import { cacheOption, collect, lazyAction } from './options/options.ts';
import { addServiceOptions } from './options/service-options.ts';

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('serve a memory that answers by its arm, over HTTP or as the tools of an agent')
    .argument('<folder>', 'the folder of a memory; with --config and --arm it is made or given the arm first')
    .option('--config <config>', 'a YAML file, such as configs/quickstart.yaml')
    .option('--arm <name>', 'the arm of the config that answers, tuned as in a run')
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .addOption(
      new Option('--mcp [transport]', 'tools for the Model Context Protocol: over standard input, or at /mcp')
        .choices(['stdio', 'http'])
        .preset('stdio'),
    )
    .option('--token-variable <name>', 'the environment variable with the token that requests must have');
  return addServiceOptions(command, 'memory', 2 ** 23)
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Ends with SIGTERM or Ctrl-C; over standard input also with its end. --mcp needs the package
@modelcontextprotocol/server.

Examples:
  ragpp serve notes --config configs/quickstart.yaml --arm hybrid --port 8080
  ragpp serve notes --mcp`,
    )
    .action(lazyAction(async () => (await import('./actions/serve.ts')).runServe));
}
