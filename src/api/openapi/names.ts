import type { GroupVersionKind } from '../object';

/** Names in OpenAPI documents, as clients and generated client libraries know them. */

/** `k8s.io.api.apps.v1.Deployment` (Protobuf) is published as `io.k8s.api.apps.v1.Deployment`. */
export function definitionName(messageName: string): string {
  return messageName.replace(/^k8s\.io\./, 'io.k8s.').replaceAll('_', '-');
}

/** A custom kind's: the group's labels in reverse order, version and kind: `com.example.stable.v1.CronTab`. */
export function customDefinitionName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

/** The beginning of URLs: `/api/v1` or `/apis/apps/v1`. */
export function pathPrefix(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** `rbacAuthorization_v1`: groups operations in the documents. */
export function operationTag(group: string, version: string): string {
  const words = groupWords(group);
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}_${version}`;
}

/** The parts of an operation's id, such as `read`, `NamespacedPodStatus`: `readCoreV1NamespacedPodStatus`. */
export function operationId(verb: string, group: string, version: string, rest: string): string {
  return `${verb}${groupWords(group)}${capitalize(version)}${rest}`;
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** `rbac.authorization.k8s.io` becomes `RbacAuthorization`, the core group `Core`. */
export function groupWords(group: string): string {
  if (group === '') return 'Core';
  return group
    .replace(/\.k8s\.io$/, '')
    .split(/[.-]/)
    .map(capitalize)
    .join('');
}
