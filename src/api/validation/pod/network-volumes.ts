import { invalid, required, tooLong, type FieldError } from '../../errors/field-error';
import type {
  AzureDiskVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
  Volume,
} from '../../schema/generated/core-v1';
import { keysOf } from '../../parts';
import { checkEach } from '../check-each';
import { invalidLiteral, stringListLiteral } from '../go-literal';
import { dns1123SubdomainProblems } from '../names';
import { byteLength } from '../syntax-error';
import {
  invalidBecause,
  validateDnsLabel,
  validateDnsSubdomain,
  validateOneOf,
  validatePresent,
  validateRange,
} from './field-rules';
import { validateIscsi } from './iscsi-volume';

/** Storage of clouds and network file systems. Persistent volumes have most of them too. */

const MAX_LUN = 255;
const MAX_PARTITION = 255;
const MAX_DRIVER_BYTES = 63;

function validateFlocker({ datasetName = '', datasetUUID = '' }: FlockerVolumeSource, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (datasetName === '' && datasetUUID === '') {
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  }
  if (datasetName !== '' && datasetUUID !== '') {
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  }
  if (datasetName.includes('/')) errors.push(invalid(`${path}.datasetName`, datasetName, "must not contain '/'"));
  return errors;
}

export function validateFc({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, path: string): readonly FieldError[] {
  const field = `${path}.targetWWNs`;
  const errors: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(required(field, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously';
    errors.push(invalidLiteral(field, stringListLiteral('[]string', targetWWNs), detail));
  }
  if (targetWWNs.length === 0) return errors;
  return lun === undefined
    ? [...errors, required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
    : [...errors, ...validateRange(lun, 0, MAX_LUN, `${path}.lun`)];
}

const QUOBYTE_DETAIL = 'must be a host:port pair or multiple pairs separated by commas';
const MAX_TENANT_BYTES = 64;
const hostAndPort = /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/;

export function validateQuobyte(source: QuobyteVolumeSource, path: string): readonly FieldError[] {
  const { registry = '', tenant = '', volume } = source;
  const errors: FieldError[] = [];
  if (registry === '') errors.push(required(`${path}.registry`, QUOBYTE_DETAIL));
  else if (byteLength(tenant) > MAX_TENANT_BYTES) {
    const detail = `must be a UUID and may not exceed a length of ${MAX_TENANT_BYTES} characters`;
    errors.push(required(`${path}.tenant`, detail));
  } else {
    const wrong = registry.split(',').filter((pair) => !hostAndPort.test(pair));
    const problem = invalid(`${path}.registry`, registry, QUOBYTE_DETAIL);
    for (let told = 0; told < wrong.length; told += 1) errors.push(problem);
  }
  return [...errors, ...validatePresent(volume, `${path}.volume`)];
}

/** Options may not be in the namespaces of the system. */
function validateFlex({ driver, options = {} }: FlexVolumeSource, path: string): readonly FieldError[] {
  const isReserved = (key: string): boolean => /(^|\.)(kubernetes|k8s)\.io$/i.test(key.split('/')[0] ?? '');
  const detail = 'kubernetes.io and k8s.io namespaces are reserved';
  return [
    ...validatePresent(driver, `${path}.driver`),
    ...checkEach(keysOf(options), (key) => (isReserved(key) ? [invalid(`${path}.options[${key}]`, key, detail)] : [])),
  ];
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function validateDiskUri(kind: string | undefined, uri: string, field: string): readonly FieldError[] {
  if (kind === undefined) return [];
  const [prefix, form] = kind === 'Managed' ? ['/subscriptions/', MANAGED_URI] : ['https://', BLOB_URI];
  return uri.toLowerCase().startsWith(prefix) ? [] : validateOneOf(uri, [form], field);
}

export function validateAzureDisk(source: AzureDiskVolumeSource, path: string): readonly FieldError[] {
  const { diskName, diskURI = '', cachingMode, kind } = source;
  return [
    ...validatePresent(diskName, `${path}.diskName`),
    ...validatePresent(diskURI, `${path}.diskURI`),
    ...(cachingMode === undefined ? [] : validateOneOf(cachingMode, CACHING_MODES, `${path}.cachingMode`)),
    ...(kind === undefined ? [] : validateOneOf(kind, DISK_KINDS, `${path}.kind`)),
    ...validateDiskUri(kind, diskURI, `${path}.diskURI`),
  ];
}

function validateStorageOs(source: StorageOSVolumeSource, path: string): readonly FieldError[] {
  const { volumeName = '', volumeNamespace = '', secretRef } = source;
  return [
    ...validatePresent(volumeName, `${path}.volumeName`),
    ...(volumeName === '' ? [] : validateDnsLabel(volumeName, `${path}.volumeName`)),
    ...(volumeNamespace === '' ? [] : validateDnsLabel(volumeNamespace, `${path}.volumeNamespace`)),
    ...(secretRef ? validatePresent(secretRef.name, `${path}.secretRef.name`) : []),
  ];
}

/** The name of a CSI driver: a domain name, upper case allowed. */
export function validateCsiDriverName(name: string, field: string): readonly FieldError[] {
  return [
    ...validatePresent(name, field),
    ...(byteLength(name) > MAX_DRIVER_BYTES ? [tooLong(field, MAX_DRIVER_BYTES)] : []),
    ...(name === '' ? [] : invalidBecause(field, name, dns1123SubdomainProblems(name.toLowerCase()))),
  ];
}

function validateCsi({ driver = '', nodePublishSecretRef }: CSIVolumeSource, path: string): readonly FieldError[] {
  const secret = nodePublishSecretRef?.name ?? '';
  const field = `${path}.nodePublishSecretRef.name`;
  return [
    ...validateCsiDriverName(driver, `${path}.driver`),
    ...(nodePublishSecretRef ? validatePresent(secret, field) : []),
    ...(secret === '' ? [] : validateDnsSubdomain(secret, field)),
  ];
}

function validateMonitors(monitors: readonly string[] | null | undefined, path: string): readonly FieldError[] {
  return (monitors ?? []).length === 0 ? [required(`${path}.monitors`, '')] : [];
}

type NetworkVolumes = Required<
  Pick<
    Volume,
    | 'gcePersistentDisk'
    | 'awsElasticBlockStore'
    | 'nfs'
    | 'iscsi'
    | 'glusterfs'
    | 'flocker'
    | 'rbd'
    | 'cinder'
    | 'cephfs'
    | 'quobyte'
    | 'fc'
    | 'flexVolume'
    | 'azureFile'
    | 'vsphereVolume'
    | 'photonPersistentDisk'
    | 'portworxVolume'
    | 'azureDisk'
    | 'storageos'
    | 'scaleIO'
    | 'csi'
  >
>;

/** For each sort of volume, its problems; `path` is that of the source. */
export const NETWORK_VOLUMES: {
  readonly [Name in keyof NetworkVolumes]: (source: NetworkVolumes[Name], path: string) => readonly FieldError[];
} = {
  gcePersistentDisk: ({ pdName, partition }, path) => [
    ...validatePresent(pdName, `${path}.pdName`),
    ...validatePartition(partition, path),
  ],
  awsElasticBlockStore: ({ volumeID, partition }, path) => [
    ...validatePresent(volumeID, `${path}.volumeID`),
    ...validatePartition(partition, path),
  ],
  nfs: ({ server, path: exported = '' }, path) => [
    ...validatePresent(server, `${path}.server`),
    ...validatePresent(exported, `${path}.path`),
    ...(exported.startsWith('/') ? [] : [invalid(`${path}.path`, exported, 'must be an absolute path')]),
  ],
  iscsi: validateIscsi,
  glusterfs: ({ endpoints, path: volume }, path) => [
    ...validatePresent(endpoints, `${path}.endpoints`),
    ...validatePresent(volume, `${path}.path`),
  ],
  flocker: validateFlocker,
  rbd: ({ monitors, image }, path) => [...validateMonitors(monitors, path), ...validatePresent(image, `${path}.image`)],
  cinder: ({ volumeID, secretRef }, path) => [
    ...validatePresent(volumeID, `${path}.volumeID`),
    ...(secretRef ? validatePresent(secretRef.name, `${path}.secretRef.name`) : []),
  ],
  cephfs: ({ monitors }, path) => validateMonitors(monitors, path),
  quobyte: validateQuobyte,
  fc: validateFc,
  flexVolume: validateFlex,
  azureFile: ({ secretName, shareName }, path) => [
    ...validatePresent(secretName, `${path}.secretName`),
    ...validatePresent(shareName, `${path}.shareName`),
  ],
  vsphereVolume: ({ volumePath }, path) => validatePresent(volumePath, `${path}.volumePath`),
  photonPersistentDisk: ({ pdID }, path) => validatePresent(pdID, `${path}.pdID`),
  portworxVolume: ({ volumeID }, path) => validatePresent(volumeID, `${path}.volumeID`),
  azureDisk: validateAzureDisk,
  storageos: validateStorageOs,
  scaleIO: ({ gateway, system, volumeName }, path) => [
    ...validatePresent(gateway, `${path}.gateway`),
    ...validatePresent(system, `${path}.system`),
    ...validatePresent(volumeName, `${path}.volumeName`),
  ],
  csi: validateCsi,
};

/** Zero, the whole disk, is allowed, whatever the message says. */
function validatePartition(partition: number | undefined, path: string): readonly FieldError[] {
  return partition === 0 ? [] : validateRange(partition, 1, MAX_PARTITION, `${path}.partition`);
}
