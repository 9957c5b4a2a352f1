import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFailure } from '../run/arm-record.ts';
import type { ArmReply, ArmRequest, OpenRequest } from './arm-process.ts';

/**
 * A program in the place of the command line, whose arms say by their names how their process ends: `crash`,
 * `crash-once`, `exit`, `sleep`, `long ...`; others are done at once.
 */
const [, , command] = process.argv;
let [, , , folder] = process.argv;
const reply = (message: ArmReply) => void process.send?.(message);

async function run(arm: string): Promise<void> {
  const marker = join(folder as string, `${arm}.met`);
  if (arm === 'crash' || (arm === 'crash-once' && !existsSync(marker))) {
    writeFileSync(marker, '');
    process.kill(process.pid, 'SIGSEGV');
    await sleep(10_000);
  }
  if (arm === 'exit') {
    process.stderr.write('first words\nlast words\n');
    process.exit(7);
  }
  if (arm === 'sleep') await sleep(100_000);
  if (arm.startsWith('long ')) await sleep(200);
  reply({ share: 0.5 });
  await sleep(20);
  writeFailure(folder as string, arm, `by process ${process.pid}`);
}

const place = process.argv.indexOf('--arm');
if (command === 'arm' && place > 0) await run(process.argv[place + 1] as string);
function open(named: string): void {
  folder = named;
  if (existsSync(join(folder, 'no-start'))) {
    process.stderr.write('ragpp [UNAVAILABLE]: no backend\n');
    process.exit(1);
  }
  appendFileSync(join(folder, 'started.log'), `${process.pid}\n`);
  reply({ ready: true });
}

if (command === 'arm' && process.send !== undefined) {
  reply({ loaded: true });
  process.on('message', async (request: ArmRequest | OpenRequest) => {
    if ('data' in request) return open((request.data.config as { folder: string }).folder);
    if ('open' in request) {
      if (folder !== request.open) open(request.open);
      return;
    }
    const task = 'arm' in request ? request.arm : request.shared.arm;
    const log = (what: string) =>
      appendFileSync(join(folder as string, 'tasks.log'), `${what}\t${task}\t${process.pid}\n`);
    log('begin');
    await run(task);
    log('end');
    reply('arm' in request ? { done: true } : { done: true, stages: {} });
  });
  process.once('disconnect', () => process.exit());
}
