// Embed: unit vectors of texts, by an encoder that is fitted on these texts.
import { loadDataset } from 'rag-plusplus/data';
import { createEncoder } from 'rag-plusplus/index';

const { corpus } = await loadDataset({ name: 'jsonl', path: 'examples/data' });
const texts = corpus.turns.map(({ text }) => text);
const encoder = await createEncoder({ encoder: 'lsa', dimension: 32 }, { fitTexts: texts });
const vectors = await encoder.encode(texts); // row-major [121, 32]
const cosine = vectors.subarray(0, 32).reduce((sum, value, i) => sum + value * (vectors[32 + i] as number), 0);
console.log(`cosine of the first two turns: ${cosine.toFixed(3)}`);
