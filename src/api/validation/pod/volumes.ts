import { duplicate, forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import { parseQuantity } from '../../quantity/quantity';
import type { HostPathVolumeSource, Volume } from '../../schema/generated/core-v1';
import { byteLength } from '../syntax-error';
import { validateEphemeralVolume } from './ephemeral-volume';
import { validateDnsLabel, validateFileMode, validateOneOf, validatePresent } from './field-rules';
import { NETWORK_VOLUMES } from './network-volumes';
import { validateDescendingPath, validateNoParentStep } from './paths';
import { validateFieldFile, validateKeysToPaths, validateProjectedVolume } from './projected-volume';
import type { UsableVolumes } from './volume-mounts';

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function validateHostPath({ path: host = '', type }: HostPathVolumeSource, path: string): readonly FieldError[] {
  if (host === '') return [required(`${path}.path`, '')];
  return [
    ...validateNoParentStep(host, `${path}.path`),
    ...(type === undefined ? [] : validateOneOf(type, HOST_PATH_TYPES, `${path}.type`)),
  ];
}

type Sources = Required<Omit<Volume, 'name'>>;
type SourceName = keyof Sources;

/** For each sort of volume, its problems; the order decides which of two is looked into. */
const SOURCES: {
  readonly [Name in SourceName]: (source: Sources[Name], path: string, context: VolumeContext) => readonly FieldError[];
} = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && parseQuantity(sizeLimit).nanos < 0n
      ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: validateHostPath,
  gitRepo: ({ repository, directory = '' }, path) => [
    ...validatePresent(repository, `${path}.repository`),
    ...validateDescendingPath(directory, `${path}.directory`),
  ],
  gcePersistentDisk: NETWORK_VOLUMES.gcePersistentDisk,
  awsElasticBlockStore: NETWORK_VOLUMES.awsElasticBlockStore,
  secret: ({ secretName, defaultMode, items }, path) => [
    ...validatePresent(secretName, `${path}.secretName`),
    ...validateFileMode(defaultMode, `${path}.defaultMode`),
    ...validateKeysToPaths(items, `${path}.items`),
  ],
  nfs: NETWORK_VOLUMES.nfs,
  iscsi: (source, path, { name, volumePath }) => [
    ...NETWORK_VOLUMES.iscsi(source, path),
    ...validateInitiatorPortal(source, name, volumePath),
  ],
  glusterfs: NETWORK_VOLUMES.glusterfs,
  flocker: NETWORK_VOLUMES.flocker,
  persistentVolumeClaim: ({ claimName }, path) => validatePresent(claimName, `${path}.claimName`),
  rbd: NETWORK_VOLUMES.rbd,
  cinder: NETWORK_VOLUMES.cinder,
  cephfs: NETWORK_VOLUMES.cephfs,
  quobyte: NETWORK_VOLUMES.quobyte,
  downwardAPI: ({ defaultMode, items }, path) => [
    ...validateFileMode(defaultMode, `${path}.defaultMode`),
    // The wire does not say which item.
    ...checkEach(items, (file) => validateFieldFile(file, path)),
  ],
  fc: NETWORK_VOLUMES.fc,
  flexVolume: NETWORK_VOLUMES.flexVolume,
  configMap: ({ name, defaultMode, items }, path) => [
    ...validatePresent(name, `${path}.name`),
    ...validateFileMode(defaultMode, `${path}.defaultMode`),
    ...validateKeysToPaths(items, `${path}.items`),
  ],
  azureFile: NETWORK_VOLUMES.azureFile,
  vsphereVolume: NETWORK_VOLUMES.vsphereVolume,
  photonPersistentDisk: NETWORK_VOLUMES.photonPersistentDisk,
  portworxVolume: NETWORK_VOLUMES.portworxVolume,
  azureDisk: NETWORK_VOLUMES.azureDisk,
  storageos: NETWORK_VOLUMES.storageos,
  projected: validateProjectedVolume,
  scaleIO: NETWORK_VOLUMES.scaleIO,
  csi: NETWORK_VOLUMES.csi,
  ephemeral: (source, path, { name, podName }) => validateEphemeralVolume(source, { name, podName }, path),
  image: ({ reference }, path) => validatePresent(reference, `${path}.reference`),
};
const SOURCE_NAMES = Object.keys(SOURCES) as readonly SourceName[];

/** Where the wire's path is not the field's name. */
const PATH_NAMES: Partial<Readonly<Record<SourceName, string>>> = { gcePersistentDisk: 'persistentDisk' };
/** The same in the refusal of a second source, with the wire's slip. */
const SURPLUS_NAMES: typeof PATH_NAMES = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

const MAX_INITIATOR_BYTES = 64;

interface VolumeContext {
  readonly name: string;
  /** Empty in templates. */
  readonly podName: string;
  readonly volumePath: string;
}

/** Both together name the initiator's interface on the node. */
function validateInitiatorPortal(
  { initiatorName, targetPortal = '' }: Sources['iscsi'],
  volumeName: string,
  path: string,
): readonly FieldError[] {
  if (initiatorName === undefined || byteLength(`${volumeName}:${targetPortal}`) <= MAX_INITIATOR_BYTES) return [];
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(`${path}.name`, volumeName, detail)];
}

function validateSource<Name extends SourceName>(
  sourceName: Name,
  volume: Volume,
  context: VolumeContext,
): readonly FieldError[] {
  const source = (volume as Sources)[sourceName];
  return SOURCES[sourceName](source, `${context.volumePath}.${PATH_NAMES[sourceName] ?? sourceName}`, context);
}

/** Exactly one source; only the first that is given is looked into. */
function validateSources(volume: Volume, context: VolumeContext): readonly FieldError[] {
  const { volumePath } = context;
  const given = SOURCE_NAMES.filter((name) => volume[name] !== undefined);
  if (given.length === 0) return [required(volumePath, 'must specify a volume type')];
  return given.flatMap((name, index) =>
    index === 0
      ? validateSource(name, volume, context)
      : [forbiddenField(`${volumePath}.${SURPLUS_NAMES[name] ?? name}`, 'may not specify more than 1 volume type')],
  );
}

/** A claim that is made for the pod cannot be one that was there before it. */
function validateClaimName(
  { persistentVolumeClaim }: Volume,
  created: ReadonlySet<string>,
  path: string,
): readonly FieldError[] {
  const claim = persistentVolumeClaim?.claimName ?? '';
  const detail = 'must not reference a PVC that gets created for an ephemeral volume';
  return created.has(claim) ? [invalid(`${path}.persistentVolumeClaim.claimName`, claim, detail)] : [];
}

/** The problems of all volumes; those that have none are `usable` after {@link checkAfter}. `podName` is empty in templates. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  podName: string,
  path: string,
): { readonly errors: readonly FieldError[]; readonly usable: UsableVolumes } {
  const usable = new Map<string, Volume>();
  const ephemeral = (volumes ?? []).filter((volume) => volume.ephemeral !== undefined && podName !== '');
  const created = new Set(ephemeral.map(({ name = '' }) => `${podName}-${name}`));
  const errors = checkEach(volumes, (volume, index) => {
    const name = volume.name ?? '';
    const volumePath = `${path}[${index}]`;
    const field = `${volumePath}.name`;
    const ofVolume = [
      ...validateSources(volume, { name, podName, volumePath }),
      ...(name === '' ? [required(field, '')] : validateDnsLabel(name, field)),
      ...(usable.has(name) ? [duplicate(field, name)] : []),
    ];
    if (ofVolume.length === 0) usable.set(name, volume);
    return [...ofVolume, ...validateClaimName(volume, created, volumePath)];
  });
  return { errors, usable };
}
