import type { GroupVersionKind, KubeObject } from '../../api/object';
import type { OperationContext, Scope } from '../../registry/types';
import type { ResourceRequest } from './endpoint';

/** Helpers that every endpoint for a resource needs: where it acts, and as which kind. */

export function scopeOf({ context, served }: ResourceRequest): Scope {
  return { namespace: served.definition.namespaced ? context.info.namespace : '' };
}

export function operationOf({ context, served }: ResourceRequest, dryRun: boolean): OperationContext {
  const { group, version } = served.version;
  const { user } = context;
  return {
    signal: context,
    pace: context,
    heard: context,
    dryRun,
    requested: { group, version },
    ...(user === undefined ? {} : { user }),
  };
}

export function kindOf({ served }: ResourceRequest): GroupVersionKind {
  const { group, version } = served.version;
  return { group, version, kind: served.definition.kind };
}

/** From the requested version to the one that the registry works in: the stored one, unless a webhook converts. */
export function toStorage({ served }: ResourceRequest, object: KubeObject): KubeObject {
  if (served.version.remote !== undefined) return object;
  return served.version.convert?.toStorage(object) ?? inStorageVersion(served.definition.storage, object);
}

function inStorageVersion({ group, version }: { group: string; version: string }, object: KubeObject): KubeObject {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}
