import type { KubeObject } from '../../object';
import { persistentVolumeClaimStrategy } from './persistent-volume-claim-strategy';

function claim(dataSource?: object): KubeObject {
  return { metadata: { name: 'c' }, spec: dataSource === undefined ? {} : { dataSource } };
}

const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
const pod = { kind: 'Pod', name: 's' };

describe('a persistent volume claim', () => {
  test.each<[string, object, object]>([
    [
      'begins as a copy of a claim',
      { kind: 'PersistentVolumeClaim', name: 's' },
      { dataSource: { kind: 'PersistentVolumeClaim', name: 's' } },
    ],
    ['begins as a snapshot', snapshot, { dataSource: snapshot }],
    ['begins empty when it names anything else', pod, {}],
  ])('%s', (_what, source, spec) => {
    const created = persistentVolumeClaimStrategy.prepareForCreate?.(claim(source));
    expect(created).toMatchObject({ spec, status: { phase: 'Pending' } });
    expect(created?.['spec']).toEqual(spec);
  });

  it('keeps a source that it had', () => {
    expect(persistentVolumeClaimStrategy.prepareForUpdate?.(claim(pod), claim(pod))['spec']).toEqual({
      dataSource: pod,
    });
    expect(persistentVolumeClaimStrategy.prepareForUpdate?.(claim(pod), claim())['spec']).toEqual({});
  });
});
