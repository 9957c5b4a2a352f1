import { Command } from 'commander';
import { cacheOption, collect, lazyAction } from './options/options.ts';
import { addServiceOptions, parseSeconds, parseWhole } from './options/service-options.ts';

function serveCommand(): Command {
  const command = new Command('serve')
    .description('give signed slices of the turns of a dataset over HTTP; ends with SIGTERM or Ctrl-C')
    .argument('[config]', 'a config with the dataset')
    .option('--dataset <name>', 'a dataset of ragpp data without a config, or one of a config with several')
    .option('--set <path=value>', 'override a value, such as dataset.path=data (repeatable)', collect, [])
    .option('--policy <file>', 'a policy as YAML or JSON; at least one (repeatable)', collect, [])
    .option('--keys <file>', 'keys of ragpp kernel keygen; default: the JSON in RAGPP_KERNEL_KEYS')
    .option('--as-of', 'requests may name their moment, as experiments do')
    .option('--valid-seconds <seconds>', 'how long a slice is valid', parseSeconds, 300)
    .option(
      '--max-turns <n>',
      'the most turns of a slice, whatever its policy says',
      parseWhole(1, 10_000_000),
      100_000,
    )
    .option('--walk-seconds <seconds>', 'the longest time in which the turns of a slice are found', parseSeconds, 5)
    .option('--cache-slices <n>', 'slices whose turns are kept; 0 keeps none', parseWhole(0, 10_000_000), 10_000)
    .addOption(cacheOption());
  return addServiceOptions(command, 'kernel', 2 ** 19)
    .addHelpText(
      'after',
      `
Prints one line when it listens. SIGHUP reads the file of --keys again.

Examples:
  ragpp kernel serve configs/quickstart.yaml --policy careful.yaml --keys kernel-keys.json --port 8080
  ragpp kernel serve --dataset jsonl --set dataset.path=data --policy careful.yaml --keys kernel-keys.json --as-of`,
    )
    .action(lazyAction(async () => (await import('./actions/kernel.ts')).runKernelServe));
}

function keygenCommand(): Command {
  return new Command('keygen')
    .description('write a new key to a new file, which its owner alone may read')
    .argument('<file>', 'the file; an existing one is not replaced')
    .action(lazyAction(async () => (await import('./actions/kernel.ts')).runKernelKeygen));
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('add a new key that signs; the one before verifies until the next rotation')
    .argument('<file>', 'a file of ragpp kernel keygen')
    .option('--retire', 'the keys before are not accepted any more, from now on')
    .addHelpText('after', '\nA kernel that runs takes the keys with SIGHUP.')
    .action(lazyAction(async () => (await import('./actions/kernel.ts')).runKernelRotate));
}

function inspectCommand(): Command {
  return new Command('inspect')
    .description('show the public part of a file of keys, or who signed a slice; no secret is shown')
    .argument('[file]', 'a file of keys, or a slice as JSON')
    .option('--policy <file>', 'show the reference of a policy (repeatable)', collect, [])
    .option('--public-key <hex>', 'check the signature of the slice with this key')
    .addHelpText(
      'after',
      `
Exit codes: 0 shown, 1 the signature of the slice is not that of the key, 2 wrong usage.

Examples:
  ragpp kernel inspect kernel-keys.json
  ragpp kernel inspect --policy careful.yaml
  ragpp kernel inspect slice.json --public-key 5f1c...`,
    )
    .action(lazyAction(async () => (await import('./actions/kernel.ts')).runKernelInspect));
}

export function kernelCommand(): Command {
  return new Command('kernel')
    .description('say what a query may see: signed slices of conversations, their policies and keys')
    .addCommand(serveCommand())
    .addCommand(keygenCommand())
    .addCommand(rotateCommand())
    .addCommand(inspectCommand());
}
