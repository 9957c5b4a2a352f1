import { afterAll, expect, test } from 'vitest';
import { BACKENDS, getActiveBackend, hasActiveBackend, setActiveBackend } from './active-backend.ts';
import { useBackend } from './backend.ts';
import { readsFromCard } from './card.ts';

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
