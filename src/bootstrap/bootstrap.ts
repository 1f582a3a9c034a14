import type { KubernetesRelease } from '../api/kubernetes-release';
import type { KubeObject } from '../api/object';
import type { OperationContext } from '../registry/types';
import type { OwnResources } from '../resources/own-resources';
import { defaultObjects, type ClusterAddresses, type DefaultObject } from './default-objects';
import { defaultRbacObjects, reconcileRbacObject } from './default-rbac';
import { ensureObject } from './ensure-object';
import { flowControlObjects, reconcileFlowControl } from './flow-control-objects';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** What is told of when it is there. */
export type BootstrapPart = 'system' | 'priority classes' | 'flow control' | 'roles';

/**
 * Creates what a fresh cluster has and brings the default roles up to date. Idempotent: several replicas may do it at
 * once, and on an existing cluster it reads only. Rejects when another replica is in the middle of something: try again.
 * Writes go side by side, since the store joins them into one commit; namespaces come first, because everything else may
 * live in them.
 */
export async function bootstrapCluster(
  own: OwnResources,
  addresses: ClusterAddresses,
  release: KubernetesRelease,
  signal: AbortSignal,
  onDone: (part: BootstrapPart) => void = () => undefined,
): Promise<void> {
  const context: OperationContext = { signal, dryRun: false };

  const ensure = (wanted: DefaultObject, reconcile: (existing: KubeObject) => KubeObject | undefined): Promise<void> =>
    ensureObject(own, wanted, reconcile, context);

  const objects = defaultObjects(addresses);
  const keep = (): undefined => undefined;
  const ensureAll = (wanted: readonly DefaultObject[]): Promise<unknown> =>
    Promise.all(wanted.map((one) => ensure(one, keep)));
  const isNamespace = ({ group, resource }: DefaultObject): boolean => group === '' && resource === 'namespaces';
  const isSystem = (one: DefaultObject): boolean => one.group === '' && !isNamespace(one);
  const isPriority = ({ group }: DefaultObject): boolean => group === 'scheduling.k8s.io';
  for (const one of objects.filter(isNamespace)) await ensure(one, keep);
  await Promise.all([
    ensureAll(objects.filter(isSystem)).then(() => onDone('system')),
    ensureAll(objects.filter(isPriority)).then(() => onDone('priority classes')),
    Promise.all(flowControlObjects().map((one) => ensure(one, (existing) => reconcileFlowControl(existing, one)))).then(
      () => onDone('flow control'),
    ),
    Promise.all(
      defaultRbacObjects(release).map(({ resource, object }) =>
        ensure({ group: RBAC_GROUP, resource, object }, (existing) => reconcileRbacObject(existing, object)),
      ),
    ).then(() => onDone('roles')),
  ]);
}
