import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import { describeStore } from './store';

describeStore('the embedded store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sternpost-store-'));
  const store = await openEmbeddedStore({ path: join(folder, 'store.db'), expiryIntervalMs: 100 });
  return {
    store,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
