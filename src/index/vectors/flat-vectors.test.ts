import { openFlatVectors } from './flat-vectors.ts';
import { readSavedIndex } from './saved-index.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';

describeVectorIndex('flat', async (distance, dimension, folder) =>
  openFlatVectors(
    { index: 'flat', distance },
    { dimension, ...(folder === undefined ? {} : { saved: await readSavedIndex(folder) }) },
  ),
);
