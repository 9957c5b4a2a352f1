import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import type { Dataset } from '../../model/dataset.ts';

/** Lets a notebook show a dataset as a table of its counts. @returns the same object. */
export function displayDataset(dataset: Dataset): Dataset {
  return attachDisplay(dataset, ({ name, corpus, queries, qrels, facts, declaration }) => {
    const counts = {
      turns: corpus.size,
      conversations: corpus.conversations.length,
      queries: queries.length,
      'queries with judgements': qrels.size,
      ...facts,
    };
    const rows = Object.entries(counts).map(([what, count]) => ({ what: stateShown(what), count }));
    const present = rows.filter(({ count }) => count !== 0);
    return buildTableBundle(present, {
      caption: phrase`${stateShown(name)}: ${stateShown(declaration.task)}`,
      limit: 16,
    });
  });
}
