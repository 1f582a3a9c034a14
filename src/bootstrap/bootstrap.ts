import type { KubeObject } from '../api/object';
import type { OperationContext } from '../registry/types';
import type { OwnResource, OwnResources } from '../resources/own-resources';
import { defaultObjects, type ClusterAddresses, type DefaultObject } from './default-objects';
import { defaultRbacObjects, reconcileRbacObject } from './default-rbac';
import { isCode } from './is-code';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** What is told of when it is there. */
export type BootstrapPart = 'system' | 'priority classes' | 'roles';

/**
 * Creates what a fresh cluster has and brings the default roles up to date. Idempotent: several replicas may do it at
 * once, and on an existing cluster it reads only. Rejects when another replica is in the middle of something: try again.
 * Writes go side by side, since the store joins them into one commit; namespaces come first, because everything else may
 * live in them.
 */
export async function bootstrapCluster(
  own: OwnResources,
  addresses: ClusterAddresses,
  signal: AbortSignal,
  onDone: (part: BootstrapPart) => void = () => undefined,
): Promise<void> {
  const context: OperationContext = { signal, dryRun: false };

  const find = async ({ registry }: OwnResource, object: KubeObject): Promise<KubeObject | undefined> => {
    const { namespace = '', name = '' } = object.metadata;
    try {
      return (await registry.get({ namespace }, name, { resourceVersion: '0' }, signal)).object;
    } catch (error) {
      if (isCode(error, 404)) return undefined;
      throw error;
    }
  };

  const ensure = async (
    group: string,
    resource: string,
    wanted: KubeObject,
    reconcile: (existing: KubeObject) => KubeObject | undefined,
  ): Promise<void> => {
    const writes = own(group, resource);
    const { namespace = '', name = '' } = wanted.metadata;
    const existing = await find(writes, wanted);
    if (existing === undefined) {
      try {
        await writes.create(wanted, context);
      } catch (error) {
        // Another replica was faster.
        if (!isCode(error, 409)) throw error;
      }
      return;
    }
    if (reconcile(existing) === undefined) return;
    const change = (current = existing): KubeObject => reconcile(current) ?? current;
    await writes.update({ namespace, name, change }, context);
  };

  const objects = defaultObjects(addresses);
  const keep = (): undefined => undefined;
  const ensureAll = (wanted: readonly DefaultObject[]): Promise<unknown> =>
    Promise.all(wanted.map(({ group, resource, object }) => ensure(group, resource, object, keep)));
  const isNamespace = ({ group, resource }: DefaultObject): boolean => group === '' && resource === 'namespaces';
  const isSystem = (one: DefaultObject): boolean => one.group === '' && !isNamespace(one);
  const isPriority = ({ group }: DefaultObject): boolean => group === 'scheduling.k8s.io';
  for (const { group, resource, object } of objects.filter(isNamespace)) await ensure(group, resource, object, keep);
  await Promise.all([
    ensureAll(objects.filter(isSystem)).then(() => onDone('system')),
    ensureAll(objects.filter(isPriority)).then(() => onDone('priority classes')),
    ensureAll(objects.filter((one) => one.group !== '' && !isPriority(one))),
    Promise.all(
      defaultRbacObjects().map(({ resource, object }) =>
        ensure(RBAC_GROUP, resource, object, (existing) => reconcileRbacObject(existing, object)),
      ),
    ).then(() => onDone('roles')),
  ]);
}
