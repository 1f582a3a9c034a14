import { badRequest } from '../api/errors/status-error';
import { extend, withMetadata } from '../api/extend';
import type { KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { Scope } from './types';

/** An object sent to a URL must not contradict it. */

/** A new object in its place: with the request's namespace, or none. Throws 400 when it names another one. */
export function placedInScope(
  { namespaced }: Pick<KindDefinition, 'namespaced'>,
  { namespace }: Scope,
  object: KubeObject,
): KubeObject {
  const sent = object.metadata.namespace ?? '';
  if (!namespaced) {
    if (sent === '') return object;
    const { namespace: _dropped, ...metadata } = object.metadata;
    return withMetadata(object, metadata);
  }
  if (sent === namespace) return object;
  if (sent !== '') {
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
