import * as tf from '@tensorflow/tfjs-core';
import { useBackend } from './tensors/backend.ts';

// Small tensors that never were on the device would be computed by the host, and tests have no others.
await useBackend('webgpu');
tf.env().set('WEBGPU_CPU_FORWARD', false);
