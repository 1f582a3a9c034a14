import { badRequest } from '../api/errors/status-error';
import { extend, withMetadata } from '../api/extend';
import type { KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { Scope } from './types';

/** An object sent to a URL must not contradict it. */

/**
 * An object in its place: in the request's namespace, which it may repeat; cluster-scoped ones have none, whatever they say.
 * Throws 400 when it names another one.
 */
export function placedInScope(
  { namespaced }: Pick<KindDefinition, 'namespaced'>,
  { namespace }: Scope,
  object: KubeObject,
): KubeObject {
  const { namespace: sent } = object.metadata;
  if (!namespaced) {
    if (sent === undefined) return object;
    const { namespace: _dropped, ...metadata } = object.metadata;
    return withMetadata(object, metadata);
  }
  if (sent === namespace) return object;
  if (sent !== undefined && sent !== '') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMetadata(object, extend(object.metadata, { namespace }));
}

/** Throws 400 when the object has no name, or another name or namespace than the URL. */
export function checkIdentity({ namespace }: Scope, name: string, object: KubeObject): void {
  const sentName = object.metadata.name ?? '';
  const sentNamespace = object.metadata.namespace ?? '';
  if (sentName === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (sentName !== name) {
    throw badRequest(`the name of the object (${sentName}) does not match the name on the URL (${name})`);
  }
  if (namespace !== '' && sentNamespace !== '' && sentNamespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${sentNamespace}) does not match the namespace on the request (${namespace})`,
    );
  }
}
