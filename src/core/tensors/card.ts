import { activeBackend, hasActiveBackend } from './active-backend.ts';

/** True where tensors lie in the memory of a graphics card, from which the host reads as little as it can. */
export function readsFromCard(): boolean {
  return hasActiveBackend() && ['cuda', 'webgpu'].includes(activeBackend());
}
