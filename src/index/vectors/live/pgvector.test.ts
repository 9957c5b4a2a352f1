import { afterAll } from 'vitest';
import { openPglite } from './pglite-database.ts';
import { describePgvector } from './pgvector.harness.ts';

const shared = openPglite(null);

afterAll(async () => {
  await (await shared).dispose();
});

describePgvector('PGlite', async () => ({ ...(await shared), dispose: async () => {} }));
