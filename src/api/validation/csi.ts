import { duplicate, invalid, notSupported, required, tooLong, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';
import { stringAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { parseQuantity } from '../quantity/quantity';
import type { CSIDriverSpec, CSINodeDriver, CSINodeSpec, TokenRequest } from '../schema/generated/storage-v1';
import { invalidLiteral, once, stringListLiteral } from './go-literal';
import { validateUnchanged } from './immutable';
import { validateLabelSelector } from './label-selector';
import { qualifiedNameProblems } from './label-syntax';
import { dns1123SubdomainProblems, dnsSubdomainName } from './names';
import { NON_NEGATIVE_PROBLEM, validateNonNegative } from './numbers';
import { validateObjectMeta } from './object-meta';
import { invalidBecause } from './pod/field-rules';
import { repetitionsInOrder } from './repetitions';
import { checkEach } from './check-each';

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MAX_DRIVER_NAME_LENGTH = 63;
const MAX_NODE_ID_LENGTH = 128;
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Names of drivers may be in upper case, as names of objects may not. */
export function validateCsiDriverName(name: string, field: string): readonly FieldError[] {
  return [
    ...(name === '' ? [required(field, '')] : []),
    ...(name.length > MAX_DRIVER_NAME_LENGTH ? [tooLong(field, MAX_DRIVER_NAME_LENGTH)] : []),
    ...invalidBecause(field, name, dns1123SubdomainProblems(name.toLowerCase())),
  ];
}

/** A new driver and a new node's drivers are checked twice, metadata included: each problem is reported twice. */
function reportedTwice(object: KubeObject, check: () => readonly FieldError[]): readonly FieldError[] {
  const metadata = validateObjectMeta(object.metadata, {
    namespaced: false,
    validateName: dnsSubdomainName,
    unqualifiedFinalizers: false,
  });
  return [...check(), ...metadata, ...check()];
}

function validateTokenRequests(requests: readonly TokenRequest[]): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return checkEach(requests, ({ audience = '', expirationSeconds: seconds }, index) => {
    const path = `spec.tokenRequests[${index}]`;
    return [
      ...(isRepeated(audience) ? [duplicate(`${path}.audience`, audience)] : []),
      ...(seconds !== undefined && seconds < MIN_TOKEN_SECONDS
        ? [invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')]
        : []),
      ...(seconds !== undefined && seconds > MAX_TOKEN_SECONDS
        ? [invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')]
        : []),
    ];
  });
}

function validateDriverSpec(spec: CSIDriverSpec): readonly FieldError[] {
  const { attachRequired, podInfoOnMount, fsGroupPolicy, volumeLifecycleModes } = spec;
  return [
    // The path is the wire's; the field is called attachRequired.
    ...(attachRequired === undefined ? [required('spec.attachedRequired', '')] : []),
    ...(podInfoOnMount === undefined ? [required('spec.podInfoOnMount', '')] : []),
    ...(fsGroupPolicy === undefined || GROUP_POLICIES.includes(fsGroupPolicy)
      ? []
      : [notSupported('spec.fsGroupPolicy', fsGroupPolicy, GROUP_POLICIES)]),
    ...validateTokenRequests(spec.tokenRequests ?? []),
    ...checkEach(volumeLifecycleModes, (mode) =>
      LIFECYCLE_MODES.includes(mode) ? [] : [notSupported('spec.volumeLifecycleModes', mode, LIFECYCLE_MODES)],
    ),
  ];
}

function driverOf(object: KubeObject): CSIDriverSpec {
  return object['spec'] ?? {};
}

export function validateCsiDriver(object: KubeObject): readonly FieldError[] {
  return reportedTwice(object, () => validateDriverSpec(driverOf(object)));
}

/** How the driver is used cannot change while volumes of it exist; what it is told of pods can. */
export function validateCsiDriverUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const [spec, was] = [driverOf(object), driverOf(old)];
  return [
    ...validateUnchanged(spec.attachRequired, was.attachRequired, 'spec.attachedRequired'),
    ...validateUnchanged(spec.fsGroupPolicy, was.fsGroupPolicy, 'spec.fsGroupPolicy'),
    ...validateUnchanged(spec.podInfoOnMount, was.podInfoOnMount, 'spec.podInfoOnMount'),
    ...validateUnchanged(spec.volumeLifecycleModes, was.volumeLifecycleModes, 'spec.volumeLifecycleModes'),
    ...validateTokenRequests(spec.tokenRequests ?? []),
  ];
}

function validateNodeId(nodeId: string, field: string): readonly FieldError[] {
  if (nodeId === '') return [required(field, '')];
  return nodeId.length > MAX_NODE_ID_LENGTH
    ? [invalid(field, nodeId, `must be ${MAX_NODE_ID_LENGTH} characters or less`)]
    : [];
}

/** Problems of single keys are reported for the driver that has them. */
function validateTopologyKeys(keys: readonly string[], path: string): readonly FieldError[] {
  const literal = once(() => stringListLiteral('[]string', keys));
  const isRepeated = repetitionsInOrder();
  return checkEach(keys, (key) => [
    ...(key === '' ? [required(path, '')] : []),
    ...(isRepeated(key) ? [duplicate(path, key)] : []),
    ...qualifiedNameProblems(key).map((problem) => invalidLiteral(path, literal(), problem)),
  ]);
}

function validateNodeDrivers(drivers: readonly CSINodeDriver[]): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return checkEach(drivers, ({ name = '', nodeID = '', allocatable, topologyKeys }, index) => {
    const path = `spec.drivers[${index}]`;
    return [
      ...validateCsiDriverName(name, `${path}.name`),
      ...validateNodeId(nodeID, `${path}.nodeID`),
      ...validateNonNegative(allocatable?.count, `${path}.allocatable.count`),
      ...(isRepeated(name) ? [duplicate(`${path}.name`, name)] : []),
      ...validateTopologyKeys(topologyKeys ?? [], path),
    ];
  });
}

function driversOf(object: KubeObject): readonly CSINodeDriver[] {
  return ((object['spec'] ?? {}) as CSINodeSpec).drivers ?? [];
}

export function validateCsiNode(object: KubeObject): readonly FieldError[] {
  return reportedTwice(object, () => validateNodeDrivers(driversOf(object)));
}

function driverLiteral({ name = '', nodeID = '', topologyKeys, allocatable }: CSINodeDriver): string {
  const resources = allocatable ? JSON.stringify(allocatable) : 'nil';
  return (
    `storage.CSINodeDriver{Name:${JSON.stringify(name)}, NodeID:${JSON.stringify(nodeID)}, ` +
    `TopologyKeys:${stringListLiteral('[]string', topologyKeys ?? [])}, Allocatable:(*storage.VolumeNodeResources)(${resources})}`
  );
}

/** A driver is registered or it is not; its record does not change in between. */
export function validateCsiNodeUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  // Of several with one name the first counts.
  const drivers = new Map([...driversOf(object)].reverse().map((driver) => [driver.name, driver]));
  return [
    ...validateNodeDrivers(driversOf(object)),
    ...validateNodeDrivers(driversOf(object)),
    ...driversOf(old).flatMap((was) => {
      const driver = drivers.get(was.name);
      return driver === undefined || deepEqual(driver, was)
        ? []
        : [invalidLiteral('CSINodeDriver', driverLiteral(driver), 'field is immutable')];
    }),
  ];
}

export function validateCsiStorageCapacity(object: KubeObject): readonly FieldError[] {
  const name = stringAt(object, 'storageClassName');
  const capacity = object['capacity'];
  const isNegative = typeof capacity === 'string' && parseQuantity(capacity).nanos < 0n;
  return [
    ...invalidBecause('storageClassName', name, dnsSubdomainName(name, false)),
    ...(isNegative ? [invalid('capacity', capacity, NON_NEGATIVE_PROBLEM)] : []),
    ...validateLabelSelector(object['nodeTopology'] as Parameters<typeof validateLabelSelector>[0], 'nodeTopology'),
  ];
}

/** What was asked of the driver cannot change, as the answer is about it. */
export function validateCsiStorageCapacityUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateCsiStorageCapacity(object),
    ...validateUnchanged(object['nodeTopology'], old['nodeTopology'], 'nodeTopology'),
    ...validateUnchanged(object['storageClassName'], old['storageClassName'], 'storageClassName'),
  ];
}
