import type { KubeObject } from '../../object';
import { listAt, stringAt } from '../field-values';
import { keepField, withFields } from '../strategies';

/** Holds a namespace until its contents are gone. */
export const KUBERNETES_FINALIZER = 'kubernetes';

/** A namespace without a phase is active. */
export function defaultNamespace(object: KubeObject): KubeObject {
  return stringAt(object, 'status', 'phase') === '' ? withFields(object, 'status', { phase: 'Active' }) : object;
}

/** A new namespace is active and has the system's finalizer besides those that the client asks for. */
export function prepareNamespaceForCreate(object: KubeObject): KubeObject {
  const finalizers = listAt(object, 'spec', 'finalizers');
  const all = finalizers.includes(KUBERNETES_FINALIZER) ? finalizers : [...finalizers, KUBERNETES_FINALIZER];
  return { ...withFields(object, 'spec', { finalizers: all }), status: { phase: 'Active' } };
}

/** Finalizers and status have subresources of their own. */
export function prepareNamespaceForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(keepField(object, old, 'spec'), old, 'status');
}

/** An update of the status leaves the finalizers. */
export function prepareNamespaceStatus(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(object, old, 'spec');
}

/** `/finalize` writes the finalizers and nothing else. */
export function finalizeNamespace(object: KubeObject, old: KubeObject): KubeObject {
  return keepField(object, old, 'status');
}

/** A namespace whose deletion has begun says so in its phase. */
export function prepareNamespaceForDelete(object: KubeObject): KubeObject {
  return withFields(object, 'status', { phase: 'Terminating' });
}

/** A namespace goes when the last of its own finalizers has gone. */
export function isNamespaceFinalized(object: KubeObject): boolean {
  return listAt(object, 'spec', 'finalizers').length === 0;
}
