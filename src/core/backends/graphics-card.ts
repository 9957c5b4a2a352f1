import { execFileSync } from 'node:child_process';

/** A card as the driver of NVIDIA describes it. */
export interface GraphicsCard {
  readonly name: string;
  readonly memoryMib: number;
  readonly driver: string;
  /** The compute capability, such as 9 or 8.6. */
  readonly capability: number;
}

const QUERY = ['--query-gpu=name,memory.total,driver_version,compute_cap', '--format=csv,noheader,nounits'];

/** A driver that hangs is as good as none. */
const MOST_MILLISECONDS = 20_000;

/** Reads the lines of `nvidia-smi`; others than those of cards are passed over. */
export function parseCards(output: string): GraphicsCard[] {
  return output.split('\n').flatMap((line) => {
    const [name = '', memory = '', driver = '', capability = ''] = line.split(',').map((cell) => cell.trim());
    if (!/^\d+(?:\.\d+)+$/.test(driver)) return [];
    return [{ name, memoryMib: Number(memory), driver, capability: Number(capability) }];
  });
}

/** The cards that the driver lists; none where there is no driver. */
export function listCards(): GraphicsCard[] {
  try {
    const output = execFileSync('nvidia-smi', QUERY, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: MOST_MILLISECONDS,
    });
    return parseCards(output);
  } catch {
    return []; // there is no such program, or it finds no driver
  }
}

/** `NVIDIA H100, 81559 MiB, compute capability 9.0, driver 580.82` */
export function describeCard({ name, memoryMib, capability, driver }: GraphicsCard): string {
  return `${name}, ${memoryMib} MiB, compute capability ${capability.toFixed(1)}, driver ${driver}`;
}

/** The oldest drivers for CUDA 12, and for PTX of CUDA 12.5, which an older driver of CUDA 12 cannot compile. */
const [OLDEST_DRIVER, PTX_DRIVER] = ['525.60', '555.42'] as const;
/** The oldest cards for which TensorFlow 2.21 has code, and those for which it has none but PTX. */
const [OLDEST, BY_PTX, REPORTED_FAILING] = [6, 9, 10];

/** Orders versions of drivers by their first two numbers. */
function rankDriver(version: string): number {
  const [major, minor] = version.split('.').map(Number) as [number, number];
  return 1000 * major + minor;
}

/**
 * Says what keeps a card from computing with the CUDA 12.5 of the installed backend, with what to do; null if nothing
 * is known.
 */
export function findMisfit({ capability, driver }: GraphicsCard): string | null {
  const needed = capability >= BY_PTX ? PTX_DRIVER : OLDEST_DRIVER;
  if (capability < OLDEST) return `TensorFlow has no code for cards below compute capability ${OLDEST}.0; use node`;
  if (rankDriver(driver) < rankDriver(needed)) return `the card needs driver ${needed} or newer; update the driver`;
  if (capability >= REPORTED_FAILING)
    return 'TensorFlow is reported to fail on cards from compute capability 10.0 on; use webgpu';
  return null;
}
