import { Argument, Command } from 'commander';
import { ADDONS } from '../core/backends/native-addon.ts';
import { BACKENDS, INSTALLABLE } from '../core/tensors/active-backend.ts';
import { lazyAction } from './options/options.ts';

const createNameArgument = () =>
  new Argument('<name>', 'the backend').choices([...INSTALLABLE, ...Object.keys(ADDONS)]);

function installCommand(): Command {
  return new Command('install')
    .description('make a backend in a folder of its own, which --backend and auto then find')
    .addArgument(createNameArgument())
    .option(
      '--without-libraries',
      'cuda: without the 1.9 GB of CUDA and cuDNN, where the system has them or there is no card',
    )
    .addHelpText(
      'after',
      `
cuda    an NVIDIA card, on Linux x86-64: 2.5 GB of downloads, 4.3 GB installed, 7 GB in between
node    the processor, on Linux x86-64: 0.3 GB of downloads, 1.1 GB installed
webgpu  any card with a Vulkan, Metal or Direct3D 12 driver
hnsw    not tensors, but the index hnsw: AVX2 and AVX-512 and no copies, on Linux x86-64; same graphs and results

cuda and node download a build of TensorFlow by pip, and build the native part of tfjs-node against it, for which
they need python3 with pip, make and c++. Nothing is installed into Python or into a project. The folder is
.ragpp/backends, or backends in the folder of RAGPP_CACHE. It gets a record of versions and hashes. The backend is
kept if it loads in another process and computes a gradient and golden cases there. hnsw needs c++ alone; it is kept if
it computes the graphs of hnswlib-node there, byte for byte.

Examples:
  ragpp backend install cuda
  RAGPP_CACHE=/data/ragpp ragpp backend install node`,
    )
    .action(lazyAction(async () => (await import('./actions/backend.ts')).install));
}

function listCommand(): Command {
  return new Command('list')
    .description('list the installed backends, and whether they load')
    .action(lazyAction(async () => (await import('./actions/backend.ts')).list));
}

function removeCommand(): Command {
  return new Command('remove')
    .description('delete an installed backend, or what an interrupted installation left')
    .addArgument(createNameArgument())
    .action(lazyAction(async () => (await import('./actions/backend.ts')).remove));
}

function checkCommand(): Command {
  return new Command('check')
    .description(
      'load a backend, name its device, and compute a gradient and golden cases; hnsw: compare it with hnswlib-node',
    )
    .addArgument(new Argument('<name>', 'the backend').choices([...BACKENDS, ...Object.keys(ADDONS)]))
    .option('--load', 'load it and no more')
    .action(lazyAction(async () => (await import('./actions/backend.ts')).check));
}

export function backendCommand(): Command {
  return new Command('backend')
    .description('install, list, check and remove tensor backends and the addon of hnsw')
    .addCommand(installCommand())
    .addCommand(listCommand())
    .addCommand(checkCommand())
    .addCommand(removeCommand());
}
