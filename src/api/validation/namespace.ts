import { invalid, type FieldError } from '../errors/field-error';
import { listAt, stringAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { qualifiedNameProblems } from './label-syntax';
import { validateFinalizerDomains } from './object-meta';
import { checkEach } from './check-each';

function finalizers(object: KubeObject): readonly string[] {
  return listAt(object, 'spec', 'finalizers').map(String);
}

function validateFinalizers(names: readonly string[], field: (index: number) => string): readonly FieldError[] {
  return checkEach(names, (name, index) => [
    ...qualifiedNameProblems(name).map((problem) => invalid(field(index), name, problem)),
    ...validateFinalizerDomains([name], '').map((error) => ({ ...error, field: field(index) })),
  ]);
}

export function validateNamespace(object: KubeObject): readonly FieldError[] {
  return validateFinalizers(finalizers(object), () => 'spec.finalizers');
}

/** Finalizers and status are as they were, so that nothing but metadata is left to check. */
export function validateNamespaceUpdate(object: KubeObject): readonly FieldError[] {
  return validateNamespace(object);
}

/** The phase says whether the namespace is being deleted, and nothing else does. */
export function validateNamespaceStatusUpdate(object: KubeObject): readonly FieldError[] {
  const phase = stringAt(object, 'status', 'phase');
  const isDeleted = stringAt(object, 'metadata', 'deletionTimestamp') !== '';
  const wanted = isDeleted ? 'Terminating' : 'Active';
  const state = isDeleted ? 'not empty' : 'empty';
  return phase === wanted
    ? []
    : [invalid('status.Phase', phase, `may only be '${wanted}' if \`deletionTimestamp\` is ${state}`)];
}

export function validateNamespaceFinalize(object: KubeObject): readonly FieldError[] {
  return validateFinalizers(finalizers(object), (index) => `spec.finalizers[${index}]`);
}
