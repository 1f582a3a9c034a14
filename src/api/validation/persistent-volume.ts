import { hadEmptyMap } from '../codec/empty-maps';
import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import { shownPart } from '../errors/shown-value';
import { checkEach } from './check-each';
import type { PersistentVolumeSpec, VolumeNodeAffinity } from '../schema/generated/core-v1';
import { invalidLiteral, notSupportedLiteral } from './go-literal';
import { dns1123SubdomainProblems } from './names';
import { validatePresent } from './pod/field-rules';
import { NETWORK_VOLUMES } from './pod/network-volumes';
import { validateIscsi } from './pod/iscsi-volume';
import { validateNodeSelector } from './pod/node-selector';
import { validateNoParentStep } from './pod/paths';
import { quantityLiteral } from './pod/quantity-literal';
import { validateHostPath } from './pod/volumes';
import {
  validateAccessModes,
  validateClassName,
  validateBasicAmount,
  validatePositiveAmount,
  validateVolumeMode,
} from './storage-claims';

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

type Sources = Required<
  Omit<
    PersistentVolumeSpec,
    | 'accessModes'
    | 'capacity'
    | 'claimRef'
    | 'mountOptions'
    | 'nodeAffinity'
    | 'persistentVolumeReclaimPolicy'
    | 'storageClassName'
    | 'volumeAttributesClassName'
    | 'volumeMode'
  >
>;

function validateSecretReference(
  reference: { readonly name?: string; readonly namespace?: string } | undefined,
  path: string,
): readonly FieldError[] {
  if (reference === undefined) return [];
  return [
    ...validatePresent(reference.name, `${path}.name`),
    ...validatePresent(reference.namespace, `${path}.namespace`),
  ];
}

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeStageSecretRef',
] as const;

function validateCsi(source: Sources['csi'], path: string): readonly FieldError[] {
  const { driver = '' } = source;
  return [
    ...validatePresent(driver, `${path}.driver`),
    ...dns1123SubdomainProblems(driver.toLowerCase()).map((problem) => invalid(`${path}.driver`, driver, problem)),
    ...validatePresent(source.volumeHandle, `${path}.volumeHandle`),
    ...CSI_SECRETS.flatMap((field) => validateSecretReference(source[field], `${path}.${field}`)),
  ];
}

/** For each sort of volume, its problems; the order decides which of two is looked into. */
const SOURCES: {
  readonly [Name in keyof Sources]: (source: Sources[Name], path: string) => readonly FieldError[];
} = {
  hostPath: validateHostPath,
  gcePersistentDisk: NETWORK_VOLUMES.gcePersistentDisk,
  awsElasticBlockStore: NETWORK_VOLUMES.awsElasticBlockStore,
  glusterfs: ({ endpoints, path: volume, endpointsNamespace }, path) => [
    ...validatePresent(endpoints, `${path}.endpoints`),
    ...validatePresent(volume, `${path}.path`),
    ...(endpointsNamespace === ''
      ? [
          invalid(
            `${path}.endpointsNamespace`,
            '',
            'if the endpointnamespace is set, it must be a valid namespace name',
          ),
        ]
      : []),
  ],
  flocker: NETWORK_VOLUMES.flocker,
  nfs: NETWORK_VOLUMES.nfs,
  rbd: ({ monitors, image }, path) => [
    ...((monitors ?? []).length === 0 ? [required(`${path}.monitors`, '')] : []),
    ...validatePresent(image, `${path}.image`),
  ],
  quobyte: NETWORK_VOLUMES.quobyte,
  cephfs: ({ monitors }, path) => ((monitors ?? []).length === 0 ? [required(`${path}.monitors`, '')] : []),
  iscsi: validateIscsi,
  cinder: ({ volumeID, secretRef }, path) => [
    ...validatePresent(volumeID, `${path}.volumeID`),
    ...validateSecretReference(secretRef, `${path}.secretRef`),
  ],
  fc: NETWORK_VOLUMES.fc,
  flexVolume: ({ driver }, path) => validatePresent(driver, `${path}.driver`),
  azureFile: ({ secretName, shareName, secretNamespace }, path) => [
    ...validatePresent(secretName, `${path}.secretName`),
    ...validatePresent(shareName, `${path}.shareName`),
    ...(secretNamespace === '' ? [required(`${path}.secretNamespace`, '')] : []),
  ],
  vsphereVolume: NETWORK_VOLUMES.vsphereVolume,
  photonPersistentDisk: NETWORK_VOLUMES.photonPersistentDisk,
  portworxVolume: NETWORK_VOLUMES.portworxVolume,
  azureDisk: NETWORK_VOLUMES.azureDisk,
  scaleIO: ({ gateway, system, volumeName }, path) => [
    ...validatePresent(gateway, `${path}.gateway`),
    ...validatePresent(system, `${path}.system`),
    ...validatePresent(volumeName, `${path}.volumeName`),
  ],
  local: ({ path: local = '' }, path) =>
    local === '' ? [required(`${path}.path`, '')] : validateNoParentStep(local, `${path}.path`),
  storageos: ({ volumeName, volumeNamespace, secretRef }, path) =>
    NETWORK_VOLUMES.storageos(
      {
        ...(volumeName === undefined ? {} : { volumeName }),
        ...(volumeNamespace === undefined ? {} : { volumeNamespace }),
        ...(secretRef?.name === undefined ? {} : { secretRef: { name: secretRef.name } }),
      },
      path,
    ),
  csi: validateCsi,
};
const SOURCE_NAMES = Object.keys(SOURCES) as readonly (keyof Sources)[];

/** Where the wire's path is not the field's name. */
const PATH_NAMES: Partial<Readonly<Record<keyof Sources, string>>> = { gcePersistentDisk: 'persistentDisk' };
/** Where it is not the field's name in the refusal of a second volume. */
const SURPLUS_NAMES: Partial<Readonly<Record<keyof Sources, string>>> = { cephfs: 'cephFS' };

function validateSource<Name extends keyof Sources>(
  name: Name,
  spec: PersistentVolumeSpec,
  path: string,
): readonly FieldError[] {
  const errors = SOURCES[name]((spec as Sources)[name], `${path}.${PATH_NAMES[name] ?? name}`);
  return name === 'local' && spec.nodeAffinity === undefined
    ? [...errors, required(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
    : errors;
}

function validateSources(spec: PersistentVolumeSpec, path: string): readonly FieldError[] {
  const given = SOURCE_NAMES.filter((name) => spec[name] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((name, index) =>
    // A driver of the cluster's own is not counted against others.
    index === 0 || name === 'flexVolume'
      ? validateSource(name, spec, path)
      : [forbiddenField(`${path}.${SURPLUS_NAMES[name] ?? name}`, 'may not specify more than 1 volume type')],
  );
}

function capacityLiteral(spec: PersistentVolumeSpec): string {
  const { capacity = {} } = spec;
  const names = Object.keys(shownPart(capacity)).filter((name) => Object.hasOwn(capacity, name));
  const printed = names.sort().map((name) => `${JSON.stringify(name)}:${quantityLiteral(capacity[name] as string)}`);
  return names.length === 0 && !hadEmptyMap(spec, 'capacity')
    ? 'core.ResourceList(nil)'
    : `core.ResourceList{${printed.join(', ')}}`;
}

/** A volume has a size, and no other amounts. */
function validateCapacity(spec: PersistentVolumeSpec, field: string): readonly FieldError[] {
  const { capacity = {} } = spec;
  const names = keysOf(capacity);
  return [
    ...(names.length === 0 ? [required(field, '')] : []),
    ...(!Object.hasOwn(capacity, 'storage') || names.length > 1
      ? [notSupportedLiteral(field, capacityLiteral(spec), ['storage'])]
      : []),
    ...checkEach(names, (name) => {
      const text = capacity[name] as string;
      return [...validateBasicAmount(text, `${field}[${name}]`), ...validatePositiveAmount(text, `${field}[${name}]`)];
    }),
  ];
}

function validateNodeAffinity({ nodeAffinity }: PersistentVolumeSpec, path: string): readonly FieldError[] {
  if (nodeAffinity === undefined) return [];
  return nodeAffinity.required === undefined
    ? [required(`${path}.required`, 'must specify required node constraints')]
    : validateNodeSelector(nodeAffinity.required, `${path}.required`);
}

/** To recycle a volume is to empty it. */
function wouldEmptyTheHost({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec): boolean {
  return /^\/[/.]*$/.test(hostPath?.path ?? '') && persistentVolumeReclaimPolicy === 'Recycle';
}

function validateReclaimOfHost(spec: PersistentVolumeSpec, path: string): readonly FieldError[] {
  return wouldEmptyTheHost(spec)
    ? [forbiddenField(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")]
    : [];
}

const INLINE = 'the context of inline volumes';

/** A volume that is no object: a VolumeAttachment may describe what a pod's own spec says of a volume that was moved to CSI. */
export function validateInlineVolume(inline: PersistentVolumeSpec, path: string): readonly FieldError[] {
  const { nodeAffinity, ...spec } = inline;
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode = 'Filesystem' } = spec;
  const refuse = (field: keyof PersistentVolumeSpec, isGiven: boolean): readonly FieldError[] =>
    isGiven ? [forbiddenField(`${path}.${field}`, `may not be specified in ${INLINE}`)] : [];
  return [
    ...refuse('claimRef', spec.claimRef !== undefined),
    ...refuse('capacity', keysOf(spec.capacity ?? {}).length > 0),
    ...(spec.csi ? [] : [required(`${path}.csi`, `has to be specified in ${INLINE}`)]),
    ...(accessModes.length === 0 ? [required(`${path}.accessModes`, '')] : []),
    ...validateAccessModes(accessModes, `${path}.accessModes`),
    ...(policy === '' || policy === 'Retain'
      ? []
      : [forbiddenField(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain in ${INLINE}`)]),
    ...refuse('nodeAffinity', nodeAffinity !== undefined),
    ...validateSources(spec, path),
    ...validateReclaimOfHost(spec, path),
    ...refuse('storageClassName', (spec.storageClassName ?? '') !== ''),
    ...(volumeMode === 'Filesystem'
      ? []
      : [forbiddenField(`${path}.volumeMode`, `may not specify volumeMode other than Filesystem in ${INLINE}`)]),
  ];
}

function specOf(object: KubeObject): PersistentVolumeSpec {
  return object['spec'] ?? {};
}

/** All problems of a persistent volume's spec. */
export function validatePersistentVolume(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '' } = spec;
  return [
    ...(accessModes.length === 0 ? [required('spec.accessModes', '')] : []),
    ...validateAccessModes(accessModes, 'spec.accessModes'),
    ...validateCapacity(spec, 'spec.capacity'),
    ...(policy === '' || RECLAIM_POLICIES.includes(policy)
      ? []
      : [notSupported('spec.persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES)]),
    ...validateNodeAffinity(spec, 'spec.nodeAffinity'),
    ...validateSources(spec, 'spec'),
    ...validateReclaimOfHost(spec, 'spec'),
    ...validateClassName(spec.storageClassName, 'spec.storageClassName'),
    ...validateVolumeMode(spec.volumeMode, 'spec.volumeMode'),
  ];
}

/** The secret by which a volume is expanded may be added later. */
function isSameSource(name: keyof Sources, spec: PersistentVolumeSpec, oldSpec: PersistentVolumeSpec): boolean {
  const { csi } = spec;
  if (name === 'csi' && csi && oldSpec.csi && !oldSpec.csi.controllerExpandSecretRef) {
    const { controllerExpandSecretRef: _added, ...rest } = csi;
    return deepEqual(rest, oldSpec.csi);
  }
  return deepEqual(spec[name], oldSpec[name]);
}

/** Where the data is does not change; where it can be reached from may be added once. */
function nodeAffinityLiteral(affinity: VolumeNodeAffinity | undefined): string {
  if (affinity === undefined) return '"null"';
  const required = affinity.required ? JSON.stringify(affinity.required) : '(*core.NodeSelector)(nil)';
  return `core.VolumeNodeAffinity{Required:${required}}`;
}

export function validatePersistentVolumeUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const oldSpec = specOf(old);
  const errors = validatePersistentVolume(object);
  return [
    // The rules of the volume as a whole are looked at twice.
    ...errors,
    ...errors,
    ...(SOURCE_NAMES.every((name) => isSameSource(name, spec, oldSpec))
      ? []
      : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')]),
    ...(spec.volumeMode === oldSpec.volumeMode ? [] : [invalid('volumeMode', spec.volumeMode, 'field is immutable')]),
    ...(oldSpec.nodeAffinity === undefined || deepEqual(spec.nodeAffinity, oldSpec.nodeAffinity)
      ? []
      : [invalidLiteral('nodeAffinity', nodeAffinityLiteral(spec.nodeAffinity), 'field is immutable')]),
  ];
}
