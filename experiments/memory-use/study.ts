import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { chooseSplitByHash } from '../../src/data/prepared/prepared.ts';
import { describeHeldOut } from '../../src/lab/measure/passport.ts';
import { estimate, formatDecimal } from '../../src/lab/report/tables/format.ts';
import { useDetectionOptions } from '../../src/memory/context/feedback/detect-use.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { drawResponses } from './generated-responses.ts';
import { loadLocomoAnswers } from './locomo-answers.ts';
import { type ClusteredResponse, chooseLimits, measureUse, type UseMeasures, type UseShare } from './measure.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  responses: z.int().min(10).default(2000),
  /** A file in the format of locomo10.json: adds the answers of LoCoMo. */
  locomo: z.string().min(1).nullable().default(null),
  limits: useDetectionOptions.prefault({}),
  /** Resamples of the intervals. */
  samples: z.int().min(100).default(10_000),
});

const formatShare = (found: UseShare | null) =>
  found === null ? '-' : `${estimate(found.share, formatDecimal, 3)} of ${found.n}`;

/** The memories of each response beside the response to another question, half a list away: it uses none of them. */
function exchangeResponses(responses: readonly ClusteredResponse[]): ClusteredResponse[] {
  return responses.map((answered, i) => ({
    ...answered,
    response: (responses[(i + Math.floor(responses.length / 2)) % responses.length] as ClusteredResponse).response,
    used: new Map(),
  }));
}

function buildMeasureTable(measures: Readonly<Record<string, UseMeasures>>): string {
  return formatPipeTable({
    head: ['responses', 'n', 'precision', 'recall', 'false alarms'],
    rows: Object.entries(measures).map(([name, { responses, precision, recall, falseAlarms }]) => [
      ...[name, String(responses)],
      ...[precision, recall, falseAlarms].map(formatShare),
    ]),
  });
}

function buildStyleTable(name: string, { recallByStyle }: UseMeasures): string {
  const rows = Object.entries(recallByStyle).map(([style, share]) => [style, formatShare(share)]);
  return formatPipeTable({ head: [name, 'recall'], rows });
}

/** How often overlap tells rightly that a response uses a memory. */
export const memoryUse: Study<typeof settings> = {
  name: 'memory-use',
  description: 'how often the overlap of a response with a memory tells rightly that it was of use: precision, recall',
  settings,
  measure: async ({ seed, responses: count, locomo, limits, samples }, context) => {
    const drawn = drawResponses(count, seed).map((response) => ({ ...response, cluster: response.id }));
    const dev = drawn.filter(({ id }) => chooseSplitByHash(id) === 'dev');
    const heldOut = drawn.filter(({ id }) => chooseSplitByHash(id) === 'test');
    const answers = locomo === null ? null : await loadLocomoAnswers(locomo, context);
    const measure = (responses: readonly ClusteredResponse[]) => measureUse(responses, limits, { seed, samples });
    const measures = {
      'generated, held out': measure(heldOut),
      'generated, response of another question': measure(exchangeResponses(heldOut)),
      ...(answers && {
        'answers of LoCoMo': measure(answers.responses),
        'answers of LoCoMo, of another question': measure(exchangeResponses(answers.responses)),
      }),
    };
    const chosen = chooseLimits(dev);
    const locomoMeasures = answers && measures['answers of LoCoMo'];
    return {
      dataset: {
        name: `${count} generated responses${answers === null ? '' : '; locomo'}`,
        hash: computeHash([drawn.map(({ question, response }) => [question, response]), answers?.hash ?? null]),
      },
      tested: [
        describeHeldOut(
          'generated responses',
          computeHash(drawn.map(({ question, response }) => [question, response])),
          heldOut.map(({ id }) => id),
        ),
      ],
      figures: { limits, chosen, measures },
      sections: [
        buildMeasureTable(measures),
        `Shares of memories, with 95 % intervals clustered by response (LoCoMo: by conversation). False alarms: memories that were not used and are detected. Limits: span ${limits.span}, weight ${limits.weight}, share ${limits.share}; the dev half of the generated responses chooses span ${chosen.span}, weight ${chosen.weight}, share ${chosen.share}.`,
        buildStyleTable('generated, held out', measures['generated, held out']),
        ...(locomoMeasures ? [buildStyleTable('answers of LoCoMo', locomoMeasures)] : []),
      ],
    };
  },
};
