import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parse } from '../../src/core/validation/validation.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import { loadDataset } from '../../src/data/registry.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import type { StudyContext } from '../study.ts';
import type { ClusteredResponse } from './measure.ts';

const answersSchema = z.array(
  z.object({
    sample_id: z.string(),
    qa: z.array(z.object({ answer: z.union([z.string(), z.number()]).optional() })),
  }),
);

/** The answers that people wrote, as responses; shown are the turns of the sessions with evidence, and used is the evidence. */
export async function loadLocomoAnswers(path: string, { cacheFolder, progress }: StudyContext) {
  const { queries, corpus, qrels, hash } = await loadDataset(
    { name: 'locomo', path },
    { cacheFolder: join(cacheFolder, 'datasets'), progress },
  );
  const samples = parse(answersSchema, JSON.parse(readFileSync(path, 'utf8')), path);
  const answers = new Map<string, string | number | undefined>(
    samples.flatMap(({ sample_id, qa }) => qa.map(({ answer }, i) => [`${sample_id}/q${i}`, answer] as const)),
  );
  const sessions = new Map<string | null, Turn[]>();
  for (const turn of corpus.turns) getOrCompute(sessions, turn.channel, () => []).push(turn);
  const responses = queries.flatMap(({ id, text, cluster, kind }): ClusteredResponse[] => {
    const answer = answers.get(id);
    if (answer === undefined) return [];
    const evidence = [...(qrels.get(id)?.keys() ?? [])].map((turnId) => corpus.getTurn(turnId));
    const shown = new Set(evidence.map(({ channel }) => channel));
    return [
      {
        ...{ id, cluster, question: text, response: String(answer) },
        memories: [...shown].flatMap((session) => sessions.get(session) ?? []),
        used: new Map(evidence.map((turn) => [turn.id, kind as string])),
      },
    ];
  });
  return { hash, responses };
}
