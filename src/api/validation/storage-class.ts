import { duplicate, invalid, notSupported, required, tooLong, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from '../schema/generated/core-v1';
import type { StorageClass } from '../schema/generated/storage-v1';
import { validateNotUpdated, validateUnchanged } from './immutable';
import { qualifiedNameProblems } from './label-syntax';
import { invalidBecause, validateQualifiedName } from './pod/field-rules';
import { byteLength } from './syntax-error';
import { contentKey, repetitionsInOrder } from './repetitions';
import { checkEach } from './check-each';

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 256 * 1024;

function validateProvisioner(provisioner: string): readonly FieldError[] {
  return provisioner === ''
    ? [required('provisioner', '')]
    : invalidBecause('provisioner', provisioner, qualifiedNameProblems(provisioner.toLowerCase()));
}

function validateParameters(parameters: Readonly<Record<string, string>>): readonly FieldError[] {
  if (keysOf(parameters).length > MAX_PARAMETERS) return [tooLong('parameters', MAX_PARAMETERS)];
  const entries = Object.entries(parameters);
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...(Object.hasOwn(parameters, '') ? [invalid('parameters', '', 'field can not be empty.')] : []),
    ...(bytes > MAX_PARAMETER_BYTES ? [tooLong('parameters', MAX_PARAMETER_BYTES)] : []),
  ];
}

function validateBindingMode(mode: string | undefined): readonly FieldError[] {
  if (mode === undefined) return [required('volumeBindingMode', '')];
  return BINDING_MODES.includes(mode) ? [] : [notSupported('volumeBindingMode', mode, BINDING_MODES)];
}

function validateRequirement(
  { key = '', values }: TopologySelectorLabelRequirement,
  path: string,
): readonly FieldError[] {
  const list = values ?? [];
  const isRepeated = repetitionsInOrder();
  return [
    ...(list.length === 0 ? [required(`${path}.values`, '')] : []),
    ...checkEach(list, (value, index) => (isRepeated(value) ? [duplicate(`${path}.values[${index}]`, value)] : [])),
    ...validateQualifiedName(key, `${path}.key`),
  ];
}

/** What each key of a term may be; the order says nothing. */
function topologyKey({ matchLabelExpressions }: TopologySelectorTerm): string {
  const values = (matchLabelExpressions ?? []).map((one) => [one.key ?? '', [...new Set(one.values ?? [])].sort()]);
  return contentKey(Object.fromEntries(values));
}

function validateTopologies(terms: readonly TopologySelectorTerm[]): readonly FieldError[] {
  const isRepeatedTerm = repetitionsInOrder();
  return checkEach(terms, (term, index) => {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const requirements = term.matchLabelExpressions ?? [];
    const isRepeatedKey = repetitionsInOrder();
    // One that is alone repeats nothing.
    const isRepeated = terms.length > 1 && isRepeatedTerm(topologyKey(term));
    return [
      ...checkEach(requirements, (requirement, position) => [
        ...validateRequirement(requirement, `${path}[${position}]`),
        ...(isRepeatedKey(requirement.key) ? [duplicate(`${path}[${position}].key`, requirement.key ?? '')] : []),
      ]),
      // A term that says nothing counts as a repetition, whatever there is beside it.
      ...(isRepeated || requirements.length === 0 ? [duplicate(path, '')] : []),
    ];
  });
}

export function validateStorageClass(object: KubeObject): readonly FieldError[] {
  const { provisioner = '', parameters, reclaimPolicy, volumeBindingMode, allowedTopologies } = object as StorageClass;
  return [
    ...validateProvisioner(provisioner),
    ...validateParameters(parameters ?? {}),
    ...(reclaimPolicy === undefined || reclaimPolicy === '' || RECLAIM_POLICIES.includes(reclaimPolicy)
      ? []
      : [notSupported('reclaimPolicy', reclaimPolicy, RECLAIM_POLICIES)]),
    ...validateBindingMode(volumeBindingMode),
    ...validateTopologies(allowedTopologies ?? []),
  ];
}

const FIXED = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

/** Volumes were made by the class; only its metadata, topologies and expansion may change. */
export function validateStorageClassUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateStorageClass(object),
    ...FIXED.flatMap((field) =>
      validateNotUpdated(object[field], old[field], field, `updates to ${field} are forbidden.`),
    ),
    ...validateUnchanged(object['volumeBindingMode'], old['volumeBindingMode'], 'volumeBindingMode'),
  ];
}
