import { afterAll, expect, test } from 'vitest';
import { BACKENDS, getActiveBackend, hasActiveBackend, readsFromCard, setActiveBackend } from './active-backend.ts';
import { useBackend } from './backend.ts';

afterAll(() => useBackend('wasm'));

test('tensors of cuda and webgpu lie on a card', async () => {
  if (!hasActiveBackend()) expect(readsFromCard()).toBe(false);
  await useBackend('wasm');
  const active = getActiveBackend();
  const onCards = BACKENDS.filter((name) => {
    setActiveBackend({ ...active, name });
    return readsFromCard();
  });
  expect(onCards).toEqual(['cuda', 'webgpu']);
});
