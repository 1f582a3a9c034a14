import { join } from 'node:path';
import type { Logger } from '../observability/logger';
import { openEmbeddedStore } from '../storage/embedded/embedded-store';
import type { Store } from '../storage/store';

/** The embedded store of a data directory, keeping `historyMs` of history. */
export function openDataDirectory(dataDir: string, historyMs: number, logger: Logger): Promise<Store> {
  return openEmbeddedStore({ path: join(dataDir, 'registry.mdb'), historyMs, logger });
}
