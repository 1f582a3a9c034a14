import { CUSTOM_RESOURCE_PRIORITY, type GroupDefinition } from '../api/kinds/groups';
import type { Strategy } from '../api/kinds/kind-definition';
import type { KubeObject } from '../api/object';
import { jsonEqual } from '../api/patch/json-equal';
import { formatDate } from '../api/time/rfc3339';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { OperationContext } from '../registry/types';
import { isCode } from './is-code';

/**
 * The APIService objects of what the server serves itself. `onstart`: of built-in group versions, brought up to date at
 * start and then left to administrators; `true`: of custom resources, kept as they have to be.
 */
export type Managed = 'onstart' | 'true';

const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
/** The group of the APIServices has none of its own. */
const OWN_GROUP = 'apiregistration.k8s.io';
/** Nothing of what the server writes itself is reset, the status included. */
const AS_IT_IS: Strategy = {};
const EVERYWHERE = { namespace: '' };

/** What an APIService says of a group version. */
export interface LocalService {
  readonly group: string;
  readonly version: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
}

export function apiServiceName({ group, version }: Pick<LocalService, 'group' | 'version'>): string {
  return `${version}.${group}`;
}

/** Of a group version of custom resources. */
export function customService(group: string, version: string): LocalService {
  const { groupPriority, versionPriority } = CUSTOM_RESOURCE_PRIORITY;
  return { group, version, groupPriorityMinimum: groupPriority, versionPriority };
}

export function builtInServices(groups: readonly GroupDefinition[]): readonly LocalService[] {
  return groups
    .filter(({ name }) => name !== OWN_GROUP)
    .flatMap(({ name, groupPriority, versions }) =>
      versions.map(({ version, versionPriority }) => ({
        group: name,
        version,
        groupPriorityMinimum: groupPriority,
        versionPriority,
      })),
    );
}

/** By what an APIService is kept; undefined: not by the server. */
export function managedBy({ metadata }: KubeObject): Managed | undefined {
  const value = metadata.labels?.[MANAGED_LABEL];
  return value === 'onstart' || value === 'true' ? value : undefined;
}

/** `existing` as it has to be, or itself when it is that already. `now`: RFC 3339, whole seconds. */
export function reconcileApiService(
  existing: KubeObject | undefined,
  service: LocalService,
  managed: Managed,
  now: string,
): KubeObject {
  const spec = {
    ...(service.group === '' ? {} : { group: service.group }),
    version: service.version,
    groupPriorityMinimum: service.groupPriorityMinimum,
    versionPriority: service.versionPriority,
  };
  const isThere = existing !== undefined && jsonEqual(existing['spec'], spec) && isAvailable(existing);
  if (isThere && managedBy(existing) === managed) return existing;
  const { metadata } = existing ?? { metadata: { name: apiServiceName(service) } };
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1beta1',
    metadata: { ...metadata, labels: { ...metadata.labels, [MANAGED_LABEL]: managed } },
    spec,
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: now,
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    },
  };
}

export function isAvailable({ status }: KubeObject): boolean {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly { type?: string; status?: string }[] };
  return (conditions ?? []).some((one) => one.type === 'Available' && one.status === 'True');
}

/** Creates it, or brings it up to date; writes nothing when it is as it has to be or is not managed by this server. */
export async function putApiService(
  registry: ResourceRegistry,
  service: LocalService,
  managed: Managed,
  context: OperationContext,
): Promise<void> {
  const change = async (current: KubeObject | undefined): Promise<KubeObject> => {
    if (current !== undefined && managedBy(current) === undefined) return current;
    return reconcileApiService(current, service, managed, formatDate(new Date()));
  };
  const hooks = { change, retryOnConflict: true, createIfMissing: true };
  await registry.update(EVERYWHERE, apiServiceName(service), hooks, context, AS_IT_IS);
}

/** Deletes one as it was seen; it may have been deleted or replaced meanwhile. */
export async function deleteApiService(
  registry: ResourceRegistry,
  { metadata: { name = '', uid = '', resourceVersion = '' } }: KubeObject,
  context: OperationContext,
): Promise<void> {
  try {
    await registry.delete(EVERYWHERE, name, { preconditions: { uid, resourceVersion } }, {}, context);
  } catch (error) {
    if (!isCode(error, 404) && !isCode(error, 409)) throw error;
  }
}

/**
 * Brings the APIServices of the built-in group versions up to date; those of versions that are no longer served go.
 * Idempotent, side by side with other replicas; on an existing cluster it reads only.
 */
export async function bootstrapApiServices(
  registry: ResourceRegistry,
  groups: readonly GroupDefinition[],
  signal: AbortSignal,
): Promise<void> {
  const context: OperationContext = { signal, dryRun: false };
  const wanted = new Map(builtInServices(groups).map((service) => [apiServiceName(service), service]));
  const { entries } = await registry.list(EVERYWHERE, { resourceVersion: '0' }, signal);
  const existing = new Map([...entries].map(({ name, object }) => [name, object]));
  const outdated = [...existing.values()].filter(
    (object) => managedBy(object) === 'onstart' && !wanted.has(object.metadata.name ?? ''),
  );
  const changed = [...wanted].filter(([name, service]) => {
    const object = existing.get(name);
    return object === undefined || reconcileApiService(object, service, 'onstart', '') !== object;
  });
  await Promise.all([
    ...changed.map(([, service]) => putApiService(registry, service, 'onstart', context)),
    ...outdated.map((object) => deleteApiService(registry, object, context)),
  ]);
}
