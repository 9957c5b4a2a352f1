import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';

const DAEMONS = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd'] as const;

/** Why no cluster can be started here; null where one can. */
export function findSlurmObstacle(): string | null {
  const missing = DAEMONS.filter((path) => !existsSync(path));
  if (missing.length > 0) return `not installed: ${missing.join(', ')} (Debian: slurm-wlm, munge)`;
  return process.getuid?.() === 0 ? null : 'slurmd runs jobs as root alone';
}

/** Ports without a listener. */
async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** A cluster of one node, this machine, whose daemons keep everything in a folder of their own. */
function formatSlurmConfig(folder: string, host: string, [controller, node]: readonly number[]): string {
  return `ClusterName=sample
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
SlurmdPort=${node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.socket
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
KillWait=1
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=${host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=${host} Default=YES MaxTime=INFINITE State=UP
`;
}

interface SampleSlurm {
  /** For `SLURM_CONF`. */
  readonly config: string;
  stop(): Promise<void>;
}

function isIdle(config: string): boolean {
  try {
    const state = execFileSync('sinfo', ['-h', '-o', '%T'], {
      encoding: 'utf8',
      env: { ...process.env, SLURM_CONF: config },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return state.trim() === 'idle';
  } catch {
    return false; // the controller does not answer yet
  }
}

/** Starts munged, slurmctld and slurmd, and waits until the node is idle. @throws Error after half a minute. */
async function startSlurm(): Promise<SampleSlurm> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-slurm-'));
  for (const name of ['state', 'spool']) mkdirSync(join(folder, name));
  const config = join(folder, 'slurm.conf');
  writeFileSync(config, formatSlurmConfig(folder, hostname().split('.')[0] as string, await findFreePorts(2)));
  writeFileSync(join(folder, 'munge.key'), randomBytes(1024), { mode: 0o400 });
  const files = [
    ['key-file', 'munge.key'],
    ['socket', 'munge.socket'],
    ['pid-file', 'munged.pid'],
    ['log-file', 'munged.log'],
    ['seed-file', 'munge.seed'],
  ].map(([option, name]) => `--${option}=${join(folder, name as string)}`);
  const environment = { ...process.env, SLURM_CONF: config };
  const start = (path: string, args: readonly string[]) => spawn(path, args, { stdio: 'ignore', env: environment });
  const [munged, slurmctld, slurmd] = DAEMONS;
  const daemons = [
    start(munged, ['--foreground', '--force', ...files]),
    start(slurmctld, ['-D']),
    start(slurmd, ['-D']),
  ];
  const stop = async () => {
    for (const daemon of [...daemons].reverse()) await awaitEnd(daemon);
    rmSync(folder, { recursive: true, maxRetries: 5 });
  };
  for (let look = 0; look < 150; look++) {
    if (isIdle(config)) return { config, stop };
    await sleep(200);
  }
  await stop();
  throw new Error(`slurm does not come up: ${folder}`);
}

/** A cluster for the tests of a block, which `SLURM_CONF` names. @param prepare what the block needs before */
export function useSlurm(prepare: () => void = () => {}): void {
  let slurm: SampleSlurm;
  beforeAll(async () => {
    prepare();
    slurm = await startSlurm();
    process.env.SLURM_CONF = slurm.config;
  });
  afterAll(async () => {
    await slurm?.stop();
    delete process.env.SLURM_CONF;
  });
}

async function awaitEnd(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exit = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  const patience = setTimeout(() => daemon.kill('SIGKILL'), 5000);
  await exit;
  clearTimeout(patience);
}
