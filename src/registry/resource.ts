import { badRequest, notFound, type GroupResource, type StatusError } from '../api/errors/status-error';
import type { KindDefinition, WriteRequest } from '../api/kinds/kind-definition';
import { formatDate } from '../api/time/rfc3339';
import { pathSegmentName } from '../api/validation/names';
import type { RegistryCache, ResourceCache } from '../storage/cache/cache';
import type { Store } from '../storage/store';
import type { EntryConversion } from './entry-conversion';
import type { SideEffects } from './side-effects';
import type { StorageEncoder } from './storage-encoder';
import type { OperationContext, Scope } from './types';

/** What every verb of one resource works with. */
export interface Resource {
  readonly definition: KindDefinition;
  readonly store: Store;
  readonly cache: RegistryCache;
  /** This resource's part of the cache. */
  readonly cached: ResourceCache;
  /** `/registry/pods/`: the keys of all its objects begin with this. */
  readonly keyPrefix: string;
  /** As error messages name it. */
  readonly groupResource: GroupResource;
  readonly groupKind: { readonly group: string; readonly kind: string };
  readonly toStored: StorageEncoder;
  /** Present: objects are in a version that a webhook has to convert them to, and not in the stored one. */
  readonly conversion?: EntryConversion;
  /** What writes need besides the object itself. */
  readonly sideEffects?: SideEffects;
  readonly clock: () => Date;
  readonly newUid: () => string;
  /** Five characters that end a generated name. */
  readonly randomSuffix: () => string;
}

/** The keys of a scope's objects begin with this. */
export function prefixOf({ keyPrefix }: Resource, { namespace }: Scope): string {
  return namespace === '' ? keyPrefix : `${keyPrefix}${namespace}/`;
}

export function keyOf(resource: Resource, scope: Scope, name: string): string {
  return prefixOf(resource, scope) + name;
}

/** The key of an object that a URL names. Throws 400 for names that no object can have because of what they do to keys. */
export function keyOfNamed(resource: Resource, scope: Scope, name: string): string {
  const problems = pathSegmentName(name, false);
  if (problems.length > 0) {
    throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(';')}`);
  }
  return keyOf(resource, scope, name);
}

export function objectNotFound({ groupResource }: Resource, name: string): StatusError {
  return notFound(groupResource, name);
}

/** What strategies may record of a write. */
export function writeRequest({ clock }: Resource, { requested, user }: OperationContext): WriteRequest {
  return {
    now: formatDate(clock()),
    ...(requested === undefined ? {} : { requested }),
    ...(user === undefined ? {} : { user }),
  };
}
