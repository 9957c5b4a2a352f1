import { useBackend } from '../src/core/tensors/backend.ts';
import { type AttentionTask, reportAttention } from './attention.ts';

const { settings, backend } = JSON.parse(process.argv[2]!) as AttentionTask;
await useBackend(backend);
process.send!(await reportAttention(settings));
