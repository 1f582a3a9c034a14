import { hasNameLabel } from '../api/kinds/core/namespace-label';
import type { KubeObject } from '../api/object';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { OperationContext } from '../registry/types';
import { isCode } from './is-code';

const EVERYWHERE = { namespace: '' };

/** An update of a namespace gives it the label; those from before the gate was on are updated once. */
export async function labelNamespaces(registry: ResourceRegistry, signal: AbortSignal): Promise<void> {
  const context: OperationContext = { signal, dryRun: false };
  const asItIs = async (current: KubeObject | undefined): Promise<KubeObject> => {
    if (current === undefined) throw new Error('namespaces are not created by an update');
    return current;
  };
  const { entries } = await registry.list(EVERYWHERE, { resourceVersion: '0' }, signal);
  const unlabelled = [...entries].filter(({ object }) => !hasNameLabel(object));
  await Promise.all(
    unlabelled.map(async ({ name }) => {
      try {
        await registry.update(EVERYWHERE, name, { change: asItIs, retryOnConflict: true }, context);
      } catch (error) {
        if (!isCode(error, 404)) throw error;
      }
    }),
  );
}
