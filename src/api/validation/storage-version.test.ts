import { created, changed, problemsOfChange, sentAs } from '../kinds/write.fixture';
import { storageVersionName } from './storage-version';

const sent = sentAs('internal.apiserver.k8s.io/v1alpha1 StorageVersion');
const metadata = { name: 'apps.deployments' };
const stored = created(sent, { metadata, spec: {}, status: { commonEncodingVersion: 'sent' } });

function report(apiServerID: string, encodingVersion: string, fields: object = {}): object {
  return { apiServerID, encodingVersion, decodableVersions: [encodingVersion], ...fields };
}

function problemsOf(status: object): readonly string[] {
  return problemsOfChange(sent, stored, { status }, 'status');
}

describe('a storage version', () => {
  it('starts without a status, which is written by its subresource alone', () => {
    expect(stored).toMatchObject({ spec: {}, status: {} });
    expect(changed(sent, stored, { status: { commonEncodingVersion: 'v1' } })).toEqual(stored);
    const status = { storageVersions: [report('a', 'v1')], commonEncodingVersion: 'v1' };
    const other = { metadata: { ...stored.metadata, labels: { a: 'b' } }, status };
    expect(changed(sent, stored, other, 'status')).toEqual({ ...stored, status });
  });

  it.each([
    ['apps.deployments', 0],
    ['internal.apiserver.k8s.io.storageversions', 0],
    ['Apps.deployments', 1],
    ['apps.1', 1],
    ['a_b.c_d', 2],
  ])('%s as its name has %d problems', (name, count) => {
    expect(storageVersionName(name)).toHaveLength(count);
  });

  it('has a group and a resource in its name', () => {
    expect(storageVersionName('pods')).toEqual(['name must be in the form of <group>.<resource>']);
    expect(storageVersionName('core.')).toEqual([expect.stringMatching(/^the resource segment a DNS-1035 label must/)]);
  });

  it.each<[string, object, readonly string[]]>([
    ['nothing', {}, []],
    [
      'servers that agree',
      { storageVersions: [report('a', 'apps/v1'), report('b', 'apps/v1')], commonEncodingVersion: 'apps/v1' },
      [],
    ],
    ['servers that do not', { storageVersions: [report('a', 'apps/v1'), report('b', 'apps/v2')] }, []],
    [
      'an agreement that nobody has said',
      { storageVersions: [report('a', 'v1')] },
      ['status.commonEncodingVersion: Invalid value: "null": the common encoding version is v1'],
    ],
    [
      'another agreement than there is',
      { storageVersions: [report('a', 'v1')], commonEncodingVersion: 'v2' },
      ['status.commonEncodingVersion: Invalid value: "v2": the actual common encoding version is v1'],
    ],
    [
      'an agreement of nobody',
      { commonEncodingVersion: 'v2' },
      [
        'status.commonEncodingVersion: Invalid value: "v2": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
      ],
    ],
    [
      'a server that cannot read what it stores and serves',
      {
        storageVersions: [report('a', 'v1', { decodableVersions: ['v2', 'v3'], servedVersions: ['v3', 'v4'] })],
        commonEncodingVersion: 'v1',
      },
      [
        'status.storageVersions[0].decodableVersions: Invalid value: []string{"v2", "v3"}: decodableVersions must include encodingVersion v1',
        'status.storageVersions[0].servedVersions[1]: Invalid value: "v4": individual served version : v4 must be included in decodableVersions : [v2 v3]',
      ],
    ],
    [
      'a version without a group before the slash',
      { storageVersions: [report('a', '/')], commonEncodingVersion: '/' },
      [
        'status.storageVersions[0].encodingVersion: Invalid value: "/": group part: must be non-empty,version part: must be non-empty',
        'status.storageVersions[0].decodableVersions[0]: Invalid value: "/": group part: must be non-empty,version part: must be non-empty',
      ],
    ],
    [
      'a condition twice',
      {
        conditions: [
          { type: 'T', status: 'True', reason: 'R', message: 'm' },
          { type: 'T', status: 'True', reason: '', message: '' },
        ],
      },
      [
        'status[1].type: Invalid value: "T": the type of the condition is not unique, it also appears in conditions[0]',
        'status[1].reason: Required value: reason cannot be empty',
        'status[1].message: Required value: message cannot be empty',
      ],
    ],
  ])('that reports %s', (_what, status, problems) => {
    expect(problemsOf(status)).toEqual(problems);
  });

  it('names what is no version and no server at all', () => {
    expect(problemsOf({ storageVersions: [report('A', 'a/b/c')], commonEncodingVersion: 'a/b/c' })).toEqual([
      expect.stringMatching(/^status.storageVersions\[0\].apiServerID: Invalid value: "A": a lowercase RFC 1123/),
      expect.stringMatching(/^status.storageVersions\[0\].encodingVersion: Invalid value: "a\/b\/c": an apiVersion is/),
      expect.stringMatching(/^status.storageVersions\[0\].decodableVersions\[0\]: Invalid value: "a\/b\/c"/),
    ]);
  });
});
