import type { KubeObject } from '../api/object';
import type { Caller, OperationContext } from '../registry/types';
import type { OwnResource, OwnResources } from '../resources/own-resources';
import type { DefaultObject } from './default-objects';
import { isCode } from './is-code';

async function find(
  { registry }: OwnResource,
  { metadata }: KubeObject,
  caller: Caller,
): Promise<KubeObject | undefined> {
  const { namespace = '', name = '' } = metadata;
  try {
    return (await registry.get({ namespace }, name, { resourceVersion: '0' }, caller)).object;
  } catch (error) {
    if (isCode(error, 404)) return undefined;
    throw error;
  }
}

/** Creates the object, or makes of an existing one what `reconcile` says; undefined: it stays as it is. */
export async function ensureObject(
  own: OwnResources,
  { group, resource, object, manager }: DefaultObject,
  reconcile: (existing: KubeObject) => KubeObject | undefined,
  context: OperationContext,
): Promise<void> {
  const writes = own(group, resource, manager);
  const { namespace = '', name = '' } = object.metadata;
  const existing = await find(writes, object, context.signal);
  if (existing === undefined) {
    try {
      await writes.create(object, context);
    } catch (error) {
      // Another replica was faster.
      if (!isCode(error, 409)) throw error;
    }
    return;
  }
  if (reconcile(existing) === undefined) return;
  const change = (current = existing): KubeObject => reconcile(current) ?? current;
  await writes.update({ namespace, name, change }, context);
}
