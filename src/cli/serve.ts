import { Command, InvalidArgumentError, Option } from 'commander';
import { cacheOption, collect, lazyAction } from './options/options.ts';

function parsePort(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('not a port from 0 to 65535; give one such as 8080.');
  return port;
}

export function serveCommand(): Command {
  return new Command('serve')
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
    .option('--host <host>', 'where to listen; another one than this machine needs --token-variable', '127.0.0.1')
    .option('--port <port>', '0 takes a free one', parsePort, 0)
    .option('--allow-host <name>', 'a name of this service in requests, such as of its proxy (repeatable)', collect, [])
    .option('--token-variable <name>', 'the environment variable with the token that requests must have')
    .option('--ready-file <file>', 'written with the address once the service listens')
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
