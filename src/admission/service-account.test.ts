import { pod, podRequest } from '../../test/fixtures/admission-request';
import type { AdmissionAttributes } from './plugin';
import type { KubeObject } from '../api/object';
import { admissionChain } from './chain';
import type { PodSpec } from './pod';
import { serviceAccountAdmission } from './service-account';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const accounts: Record<string, KubeObject> = {
  default: { metadata: { name: 'default', uid: 'u1' }, secrets: [{ name: 'plain' }, { name: 'tok.en' }] },
  quiet: { metadata: { name: 'quiet' }, automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] },
  strict: {
    metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    automountServiceAccountToken: false,
    secrets: [{ name: 'mine' }],
  },
};
const secrets: Record<string, KubeObject> = {
  plain: { metadata: { name: 'plain' }, type: 'Opaque' },
  'tok.en': {
    metadata: {
      name: 'tok.en',
      annotations: { 'kubernetes.io/service-account.name': 'default', 'kubernetes.io/service-account.uid': 'u1' },
    },
    type: 'kubernetes.io/service-account-token',
  },
};
const chain = (boundTokens: boolean) =>
  admissionChain([
    serviceAccountAdmission({
      getServiceAccount: async (_namespace, name) => accounts[name],
      getSecret: (_namespace, name) => secrets[name],
      randomSuffix: () => 'abcde',
      boundTokens,
    }),
  ]);
const mutate = async (spec: object, boundTokens = true) =>
  (await chain(boundTokens).mutate(podRequest(spec)))?.spec as PodSpec;

describe('ServiceAccount', () => {
  it('runs a pod under the default account with a bound token', async () => {
    const spec = await mutate({});
    expect(spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    expect(spec.volumes?.[0]).toMatchObject({
      name: 'kube-api-access-abcde',
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt' } },
          { downwardAPI: {} },
        ],
      },
    });
    expect(spec.containers?.[0]?.volumeMounts).toEqual([
      { name: 'kube-api-access-abcde', readOnly: true, mountPath: MOUNT_PATH },
    ]);
  });

  it('mounts the token secret of the account where bound tokens are off', async () => {
    const spec = await mutate({}, false);
    expect(spec.volumes).toEqual([{ name: 'tok-en', secret: { secretName: 'tok.en', defaultMode: 420 } }]);
    expect(spec.containers?.[0]?.volumeMounts?.[0]?.name).toBe('tok-en');
    const present = await mutate({ volumes: [{ name: 'v', secret: { secretName: 'tok.en' } }] }, false);
    expect(present.volumes).toHaveLength(1);
    expect(present.containers?.[0]?.volumeMounts?.[0]?.name).toBe('v');
  });

  it('asks to come again while the account has no token secret yet', async () => {
    accounts.fresh = { metadata: { name: 'fresh' } };
    await expect(mutate({ serviceAccountName: 'fresh' }, false)).rejects.toMatchObject({
      status: { code: 500, reason: 'ServerTimeout', details: { name: 'create pod', retryAfterSeconds: 1 } },
    });
  });

  it('mounts nothing where pod or account say so, or something is there already', async () => {
    expect((await mutate({ automountServiceAccountToken: false })).volumes).toBeUndefined();
    expect((await mutate({ serviceAccountName: 'quiet' })).volumes).toBeUndefined();
    expect((await mutate({ serviceAccountName: 'quiet', automountServiceAccountToken: true })).volumes).toHaveLength(1);
    const own = [{ name: 'c', volumeMounts: [{ name: 'mine', mountPath: MOUNT_PATH }] }];
    expect((await mutate({ containers: own })).volumes).toBeUndefined();
  });

  it("copies the account's image pull secrets unless the pod has its own", async () => {
    expect((await mutate({ serviceAccountName: 'quiet' })).imagePullSecrets).toEqual([{ name: 'pull' }]);
    const own = { serviceAccountName: 'quiet', imagePullSecrets: [{ name: 'own' }] };
    expect((await mutate(own)).imagePullSecrets).toEqual([{ name: 'own' }]);
  });

  it('refuses an account that does not exist', async () => {
    await expect(mutate({ serviceAccountName: 'none' })).rejects.toThrow(
      'pods "p" is forbidden: error looking up service account ns/none: serviceaccount "none" not found',
    );
  });

  it.each([
    [{ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }, 'volume with secret.secretName="other"'],
    [
      { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other' } } }] }] },
      'container c with envVar E referencing secret.secretName="other"',
    ],
    [{ imagePullSecrets: [{ name: 'other' }] }, 'imagePullSecrets[0].name="other"'],
  ])('keeps a strict account from other secrets: %j', async (spec, text) => {
    await expect(mutate({ serviceAccountName: 'strict', ...spec })).rejects.toThrow(text);
  });

  it('keeps a strict account from other secrets in containers that come later, and looks at no other change', async () => {
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other' } } }];
    const late = (name: string, part: Partial<AdmissionAttributes>) =>
      chain(true).validate(
        podRequest(
          { serviceAccountName: name, ephemeralContainers: [{ name: 'c', env }] },
          { operation: 'UPDATE', ...part },
        ),
      );
    const subresource = 'ephemeralcontainers';
    await expect(late('strict', { subresource })).rejects.toThrow(
      'ephemeral container c with envVar E referencing secret.secretName="other" is not allowed because ' +
        'service account strict does not reference that secret',
    );
    await expect(late('quiet', { subresource })).resolves.toBeUndefined();
    await expect(late('strict', {})).resolves.toBeUndefined();
  });

  it.each([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('gives mirror pods nothing: %j', async (spec, text) => {
    const object = pod(spec, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    await expect(chain(true).mutate(podRequest({}, { object }))).rejects.toThrow(text);
  });
});
