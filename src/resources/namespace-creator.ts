import { StatusError } from '../api/errors/status-error';
import type { ResourceRegistry } from '../registry/resource-registry';

/** Creates a namespace without access control; that it is there already is fine. */
export function namespaceCreator(namespaces: ResourceRegistry): (name: string, signal: AbortSignal) => Promise<void> {
  return async (name, signal) => {
    try {
      await namespaces.create({ namespace: '' }, { metadata: { name } }, {}, { signal, dryRun: false });
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === 'AlreadyExists')) throw error;
    }
  };
}
