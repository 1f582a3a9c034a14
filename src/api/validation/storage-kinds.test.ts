import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './persistent-volume';
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatusUpdate,
  validatePersistentVolumeClaimUpdate,
} from './persistent-volume-claim';

/** `field: message` of every problem, in order. */
function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('persistent volumes', () => {
  const hostPath = { path: '/x' };

  function volume(spec: object): KubeObject {
    const defaults = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' };
    return { metadata: { name: 'v' }, spec: { ...defaults, ...spec } };
  }

  test.each<[string, object, readonly string[]]>([
    ['a path', { hostPath }, []],
    ['a mode of later releases', { hostPath, accessModes: ['ReadWriteOncePod'] }, []],
    ['no source', {}, ['spec: Required value: must specify a volume type']],
    [
      'no size',
      { hostPath, capacity: { storage: '0' } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'another mode',
      { hostPath, accessModes: ['RWO'] },
      [
        'spec.accessModes: Unsupported value: "RWO": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"',
      ],
    ],
    [
      'two sources',
      { hostPath, nfs: { server: 'a', path: '/b' } },
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'two sources, by the name of the wire',
      { hostPath, cephfs: { monitors: ['a'] } },
      ['spec.cephFS: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      "a driver of the cluster's own beside another source",
      { hostPath, flexVolume: { driver: '' } },
      ['spec.flexVolume.driver: Required value'],
    ],
    [
      'a local disk anywhere',
      { local: { path: 'a/../b' } },
      [
        'spec.local.path: Invalid value: "a/../b": must not contain \'..\'',
        'spec.nodeAffinity: Required value: Local volume requires node affinity',
      ],
    ],
    [
      'an empty affinity',
      { hostPath, nodeAffinity: {} },
      ['spec.nodeAffinity.required: Required value: must specify required node constraints'],
    ],
    [
      'an empty driver',
      { csi: {} },
      [
        'spec.csi.driver: Required value',
        `spec.csi.driver: Invalid value: "": ${SUBDOMAIN}`,
        'spec.csi.volumeHandle: Required value',
      ],
    ],
    [
      'a host to be emptied',
      { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
  ])('with %s', (_what, spec, problems) => {
    expect(texts(validatePersistentVolume(volume(spec)))).toEqual(problems);
  });

  test('show amounts as they are kept', () => {
    const capacity = { storage: '1Gi', cpu: '1' };
    const literal = (value: number, text: string, format: string): string =>
      `resource.Quantity{i:resource.int64Amount{value:${value}, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"${format}"}`;
    expect(texts(validatePersistentVolume(volume({ hostPath, capacity })))).toEqual([
      `spec.capacity: Unsupported value: core.ResourceList{"cpu":${literal(1, '1', 'DecimalSI')}, ` +
        `"storage":${literal(1_073_741_824, '1Gi', 'BinarySI')}}: supported values: "storage"`,
    ]);
  });

  test('stay where they are', () => {
    const changed = volume({ hostPath: { path: '/y' }, volumeMode: 'Block' });
    expect(texts(validatePersistentVolumeUpdate(changed, volume({ hostPath })))).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
      'volumeMode: Invalid value: "Block": field is immutable',
    ]);
    const grown = volume({ hostPath, capacity: { storage: '2Gi' }, storageClassName: 'c' });
    expect(texts(validatePersistentVolumeUpdate(grown, volume({ hostPath })))).toEqual([]);
  });

  test('may be told later by which secret they are expanded, and that stays', () => {
    const csi = { driver: 'd.example.com', volumeHandle: 'h' };
    const expandable = (name: string): KubeObject =>
      volume({ csi: { ...csi, controllerExpandSecretRef: { name, namespace: 'n' } } });
    expect(validatePersistentVolumeUpdate(expandable('a'), volume({ csi }))).toEqual([]);
    expect(texts(validatePersistentVolumeUpdate(expandable('b'), expandable('a')))).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
    ]);
  });
});

describe('persistent volume claims', () => {
  function claim(spec: object, status: object = { phase: 'Bound' }, annotations = {}): KubeObject {
    const defaults = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    return { metadata: { name: 'c', annotations }, spec: { ...defaults, ...spec }, status };
  }
  const sized = (storage: string) => ({ resources: { requests: { storage } } });
  const IMMUTABLE = 'spec: Forbidden: spec is immutable after creation except resources.requests for bound claims';
  const SHRUNK = 'spec.resources.requests.storage: Forbidden: field can not be less than previous value';
  const CLASS = 'volume.beta.kubernetes.io/storage-class';

  test.each<[string, object, readonly string[]]>([
    [
      'nothing',
      { spec: undefined },
      [
        'spec.accessModes: Required value: at least 1 access mode is required',
        'spec.resources[storage]: Required value',
      ],
    ],
    ['no size', claim(sized('0')), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
    [
      'a class without a name of its own',
      claim({ storageClassName: 'A b' }),
      [`spec.storageClassName: Invalid value: "A b": ${SUBDOMAIN}`],
    ],
  ])('with %s', (_what, object, problems) => {
    expect(texts(validatePersistentVolumeClaim(object as KubeObject))).toEqual(problems);
  });

  test.each<[string, KubeObject, KubeObject, readonly string[]]>([
    ['may be given a volume', claim({ volumeName: 'v' }), claim({}), []],
    ['keep their volume', claim({ volumeName: 'w' }), claim({ volumeName: 'v' }), [IMMUTABLE]],
    ['may grow when they are bound', claim(sized('2Gi')), claim({}), []],
    ['do not grow before', claim(sized('2Gi'), {}), claim({}, {}), [IMMUTABLE]],
    ['never shrink', claim(sized('512Mi')), claim({}), [SHRUNK]],
    ['keep their modes', claim({ accessModes: ['ReadOnlyMany'] }), claim({}), [IMMUTABLE]],
    ['may name their class in its own field', claim({ storageClassName: 's' }), claim({}, {}, { [CLASS]: 's' }), []],
    [
      'keep their class',
      claim({}, {}, { [CLASS]: 't' }),
      claim({}, {}, { [CLASS]: 's' }),
      [`metadata.annotations[${CLASS}]: Invalid value: "t": field is immutable`],
    ],
  ])('%s', (_what, object, old, problems) => {
    expect(texts(validatePersistentVolumeClaimUpdate(object, old))).toEqual(problems);
  });

  test('have no negative size in their status', () => {
    const errors = validatePersistentVolumeClaimStatusUpdate(claim({}, { capacity: { storage: '-1' } }));
    expect(texts(errors)).toEqual(['status.capacity[storage]: Invalid value: -1: must be a valid resource quantity']);
  });
});
