import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { writeUntilKilled } from '../store/write-until-killed.harness.ts';

const STEPS = 3;

export const openKilled = (folder: string) =>
  openMemory({ folder, dimension: 2, indexes: { main: { index: 'flat' } }, snapshotBytes: 20_000 });

const nameTalk = (writer: number, round: number) => `w${writer}-${round}`;

/**
 * Operation `step` of a writer: the records of a conversation and one of another are added, the other is observed, the
 * conversation is removed.
 */
async function runStep(memory: Memory, writer: number, step: number): Promise<void> {
  const talk = nameTalk(writer, Math.floor(step / STEPS));
  const create = (id: string, conversationId: string, context: string) => {
    return { id, conversationId, context, embedding: Float32Array.of(writer, step), createdAt: step };
  };
  if (step % STEPS === 0)
    await memory.addBatch([
      create(`${talk}-a`, talk, `secret ${talk};`),
      create(`${talk}-b`, talk, `secret ${talk};`),
      create(`${talk}-open`, 'open', 'open'),
    ]);
  else if (step % STEPS === 1) await memory.updateStats(`${talk}-open`, 1);
  else await memory.removeWhere({ conversationId: talk });
}

/** The ids of the records of a writer after its first `steps` operations, with the number of outcomes of each. */
export function listExpected(writer: number, steps: number): string[] {
  const rounds = Array.from({ length: Math.ceil(steps / STEPS) }, (_, round) => round);
  const ids = rounds.flatMap((round) => {
    const [talk, done] = [nameTalk(writer, round), steps - round * STEPS];
    const open = `${talk}-open ${Number(done > 1)}`;
    return done >= STEPS ? [open] : [`${talk}-a 0`, `${talk}-b 0`, open];
  });
  return ids.sort();
}

await writeUntilKilled(openKilled, runStep);
