// Attend: ring attention of one query over a conversation of four turns.
import { tf, useBackend } from 'rag-plusplus/core';
import { RING_ATTENTION_DEFAULTS, ringAttention } from 'rag-plusplus/ops';

await useBackend('auto');
const keys = tf.tensor2d([1, 0, 0, 1, 0.6, 0.8, 0.8, 0.6], [4, 2]); // a row for each turn
const keyPositions = tf.tensor1d([0, 1, 2, 3], 'int32');
const place = { queryPositions: tf.tensor1d([4], 'int32'), keyPositions, ringSize: 5 };
const inputs = { queries: tf.tensor2d([[1, 0]]), keys, values: keys, ...place };
const { weights } = ringAttention(inputs, RING_ATTENTION_DEFAULTS);
console.log('weights', Array.from(await weights.data(), (weight) => weight.toFixed(3)).join(' '));
