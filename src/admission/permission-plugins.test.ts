import { admissionOutcome, admissionRequest } from '../../test/fixtures/admission-request';
import type { KubeObject } from '../api/object';
import type { AccessQuestion, Authorize } from './authorize';
import { certificateApproval } from './certificate-approval';
import { certificateSigning } from './certificate-signing';
import { certificateSubjectRestriction } from './certificate-subject-restriction';
import { admissionChain } from './chain';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize';

/** Allows the questions that match one of the texts `verb resource[/subresource] name`. */
const allowing =
  (...texts: string[]): Authorize =>
  async ({ verb, resource, subresource, name }: AccessQuestion) => ({
    allowed: texts.includes(`${verb} ${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`),
    reason: '',
  });

const csrRequest = (subresource: string, object: KubeObject, oldObject: KubeObject = object) =>
  admissionRequest({
    operation: 'UPDATE',
    group: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
    namespace: '',
    name: 'r',
    subresource,
    object,
    oldObject,
  });
const csr = (status: object = {}): KubeObject => ({
  metadata: { name: 'r' },
  spec: { signerName: 'good.com/one' },
  status,
});

describe('CertificateApproval and CertificateSigning', () => {
  it.each([
    [[], 'refused'],
    [['approve signers good.com/one'], 'admitted'],
    [['approve signers good.com/*'], 'admitted'],
    [['sign signers good.com/one'], 'refused'],
    [['approve signers good.com/two'], 'refused'],
  ])('with %j an approval is %s', async (permissions, expected) => {
    const promise = admissionChain([certificateApproval(allowing(...permissions))]).validate(
      csrRequest('approval', csr()),
    );
    if (expected === 'admitted') await expect(promise).resolves.toBeUndefined();
    else await expect(promise).rejects.toThrow('user not permitted to approve requests with signerName "good.com/one"');
  });

  it('asks about a status only when the certificate or the conditions change', async () => {
    const chain = admissionChain([certificateSigning(allowing())]);
    await expect(chain.validate(csrRequest('status', csr({ other: 1 }), csr()))).resolves.toBeUndefined();
    await expect(chain.validate(csrRequest('status', csr({ certificate: 'eA==' }), csr()))).rejects.toThrow(
      'user not permitted to sign requests with signerName "good.com/one"',
    );
  });
});

describe('CertificateSubjectRestriction', () => {
  // openssl req -new -subj "/O=system:masters/CN=x", EC key
  const MASTERS = `-----BEGIN CERTIFICATE REQUEST-----
MIHhMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAF4
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDlXWl/HSESIivKVIWE0NwAY0UzjT
c1iMzkJNKJAlbqODmEvSElBTiCrc7wxyZHD2XWDUMeHXUUl1REdkogAEOaAAMAoG
CCqGSM49BAMCA0kAMEYCIQDqRTuCAv43X+zuNx5GMb4XcxHfICL8hhVOLnoohLm5
qQIhAPUjfMKHNZkOs6IpJVb4gZun2dP6jUHjKUPj1b90cxkP
-----END CERTIFICATE REQUEST-----`;
  const chain = admissionChain([certificateSubjectRestriction]);
  const create = (signerName: string, pem: string) =>
    chain.validate({
      ...csrRequest('', {
        metadata: { name: 'r' },
        spec: { signerName, request: Buffer.from(pem).toString('base64') },
      }),
      operation: 'CREATE',
    });

  it('keeps system:masters from client certificates', async () => {
    await expect(create('kubernetes.io/kube-apiserver-client', MASTERS)).rejects.toThrow(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    await expect(create('good.com/one', MASTERS)).resolves.toBeUndefined();
    await expect(create('kubernetes.io/kube-apiserver-client', 'nonsense')).rejects.toThrow(
      'failed to parse CSR: PEM block type must be CERTIFICATE REQUEST',
    );
  });
});

describe('OwnerReferencesPermissionEnforcement', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const object = (...ownerReferences: object[]) =>
    ({ metadata: { name: 'c', ownerReferences } }) as unknown as KubeObject;
  const outcome = (permissions: string[], part: Parameters<typeof admissionRequest>[0]) =>
    admissionOutcome(() =>
      admissionChain([
        ownerReferencesPermissionEnforcement({
          authorize: allowing(...permissions),
          findResource: (_group, _version, kind) =>
            kind === 'ConfigMap' ? { resource: 'configmaps', namespaced: true } : undefined,
        }),
      ]).validate(admissionRequest({ name: 'c', ...part })),
    );

  it('lets anything have owners from the start', async () => {
    expect(await outcome([], { object: object(owner) })).toBe('admitted');
  });

  it('asks for the verb delete when owners change', async () => {
    const update = { operation: 'UPDATE', object: object(owner), oldObject: object() } as const;
    expect(await outcome([], update)).toContain("cannot set an ownerRef on a resource you can't delete: , <nil>");
    expect(await outcome(['delete configmaps c'], update)).toBe('admitted');
    expect(await outcome([], { ...update, oldObject: object(owner) })).toBe('admitted');
  });

  it("asks for the owner's finalizers when its deletion is to wait", async () => {
    const blocking = { object: object({ ...owner, blockOwnerDeletion: true }) };
    expect(await outcome([], blocking)).toContain("a resource you can't set finalizers on: , <nil>");
    expect(await outcome(['update configmaps/finalizers o'], blocking)).toBe('admitted');
    expect(await outcome([], { object: object({ ...owner, kind: 'Thing', blockOwnerDeletion: true }) })).toContain(
      'cannot find RESTMapping for APIVersion v1 Kind Thing: no matches for kind "Thing" in version "v1"',
    );
  });
});

describe('PersistentVolumeClaimResize', () => {
  const claim = (storage: string, storageClassName: string, phase = 'Bound'): KubeObject => ({
    metadata: { name: 'c' },
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const chain = admissionChain([
    persistentVolumeClaimResize((name) =>
      name === 'none' ? undefined : { metadata: { name }, allowVolumeExpansion: name === 'elastic' },
    ),
  ]);
  it.each([
    [claim('1Gi', 'elastic'), claim('2Gi', 'elastic'), ''],
    [claim('1Gi', 'fixed'), claim('1Gi', 'fixed'), ''],
    [claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), 'only dynamically provisioned pvc can be resized'],
    [claim('1Gi', 'none'), claim('2Gi', 'none'), 'only dynamically provisioned pvc can be resized'],
    [claim('1Gi', ''), claim('2Gi', ''), 'only dynamically provisioned pvc can be resized'],
    [
      claim('1Gi', 'elastic', 'Pending'),
      claim('2Gi', 'elastic'),
      'Only bound persistent volume claims can be expanded',
    ],
  ])('decides about growing claims (%#)', async (oldObject, object, refusal) => {
    const promise = chain.validate(
      admissionRequest({ operation: 'UPDATE', resource: 'persistentvolumeclaims', object, oldObject }),
    );
    if (refusal === '') await expect(promise).resolves.toBeUndefined();
    else await expect(promise).rejects.toThrow(refusal);
  });
});
