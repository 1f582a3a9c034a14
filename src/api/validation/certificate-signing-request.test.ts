import { createAuthority } from '../../pki/authority';
import { newCertificateRequest } from '../../pki/certificate-request.fixture';
import { changed, created, problemsOfChange, problemsOfNew, sentAs } from '../kinds/write.fixture';

const v1 = sentAs('certificates.k8s.io/v1 CertificateSigningRequest');
const beta = sentAs('certificates.k8s.io/v1beta1 CertificateSigningRequest');
const metadata = { name: 'x' };
const node = [
  { shortName: 'O', value: 'system:nodes' },
  { shortName: 'CN', value: 'system:node:n' },
];

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}

const request = base64(newCertificateRequest(node));
const serving = base64(newCertificateRequest(node, [{ type: 2, value: 'n' }]));
const spec = { request, signerName: 'example.com/s', usages: ['client auth'] };
const approved = { type: 'Approved', status: 'True' };

describe('certificate signing requests', () => {
  test('who asks is what authentication found, and nothing is decided yet', () => {
    const body = {
      metadata,
      spec: { ...spec, username: 'root', groups: ['system:masters'] },
      status: { conditions: [approved] },
    };
    expect(created(v1, body)).toMatchObject({ spec: { ...spec, username: 'admin', groups: ['g'] }, status: {} });
  });

  test.each<[string, object, readonly string[]]>([
    ['a plain one', {}, []],
    ['no signer', { signerName: '' }, ['spec.signerName: Required value: signerName must be provided']],
    ['no usages', { usages: [] }, ['spec.usages: Required value: usages must be provided']],
    [
      'the signer of old',
      { signerName: 'kubernetes.io/legacy-unknown' },
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    [
      'no PEM',
      { request: 'eA==' },
      ['spec.request: Invalid value: []byte{0x78}: PEM block type must be CERTIFICATE REQUEST'],
    ],
  ])('%s', (_name, change, problems) => {
    expect(problemsOfNew(v1, { metadata, spec: { ...spec, ...change } })).toEqual(problems);
  });

  test.each([
    [request, ['digital signature', 'key encipherment', 'client auth'], 'kubernetes.io/kube-apiserver-client-kubelet'],
    [serving, ['digital signature', 'key encipherment', 'server auth'], 'kubernetes.io/kubelet-serving'],
    [
      request,
      ['digital signature', 'client auth', 'key encipherment', 'client auth'],
      'kubernetes.io/kube-apiserver-client-kubelet',
    ],
    [serving, ['client auth'], 'kubernetes.io/legacy-unknown'],
    ['', undefined, 'kubernetes.io/legacy-unknown'],
  ])('v1beta1 tells the signer from the request', (pem, usages, signerName) => {
    const body = { metadata, spec: { request: pem, ...(usages === undefined ? {} : { usages }) } };
    expect(created(beta, body)).toMatchObject({ spec: { signerName } });
  });

  test('a decision is dated, and cannot be taken back', () => {
    const old = created(v1, { metadata, spec });
    const decided = changed(v1, old, { status: { conditions: [approved] } }, 'approval');
    expect(decided['status']).toEqual({
      conditions: [{ ...approved, lastUpdateTime: '2026-01-02T03:04:05Z', lastTransitionTime: '2026-01-02T03:04:05Z' }],
    });
    expect(problemsOfChange(v1, decided, { status: {} }, 'approval')).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(problemsOfChange(v1, old, { status: { conditions: [approved] } }, 'status')).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
  });

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['takes conditions that decide nothing', [], ['Other', 'Failed'], ['Other', 'Failed']],
    ['removes them', ['Other'], [], []],
    ['leaves all as they are when it adds a decision', ['Other'], ['Approved', 'Failed'], ['Other']],
    ['leaves all as they are when it takes a decision back', ['Approved', 'Other'], ['Failed'], ['Approved', 'Other']],
    ['keeps the decision and takes the others', ['Approved', 'Other'], ['Approved', 'Failed'], ['Approved', 'Failed']],
  ])('the status through v1beta1 %s', (_name, before, sent, after) => {
    const conditions = (types: readonly string[], reason: string): object => ({
      conditions: types.map((type) => ({ type, status: 'True', reason })),
    });
    const old = { ...created(v1, { metadata, spec }), status: conditions(before, 'old') };
    const { status } = changed(beta, old, { status: conditions(sent, 'new') }, 'status');
    const found = (status as { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] })
      .conditions;
    expect((found ?? []).map(({ type }) => type)).toEqual(after);
    expect(found?.find(({ type }) => type === 'Approved')?.reason ?? 'old').toBe('old');
  });

  test('a certificate is PEM, and is put in once', () => {
    const old = created(v1, { metadata, spec });
    expect(problemsOfChange(v1, old, { status: { certificate: 'eA==' } }, 'status')).toEqual([
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    const der = Buffer.from(
      createAuthority('ca', new Date()).certificatePem.replace(/-----[^-]+-----|\n/g, ''),
      'base64',
    );
    const problemsOf = (...parts: readonly Buffer[]): readonly string[] =>
      problemsOfChange(
        v1,
        old,
        {
          status: {
            certificate: base64(
              `-----BEGIN CERTIFICATE-----\n${Buffer.concat(parts).toString('base64')}\n-----END CERTIFICATE-----\n`,
            ),
          },
        },
        'status',
      );
    const malformed = 'status.certificate: Invalid value: "<certificate data>": x509: malformed certificate';
    expect(problemsOf(der, der)).toEqual([]);
    expect(problemsOf(der, Buffer.from('junk'))).toEqual([malformed]);
    const issued = { ...old, status: { certificate: 'eA==' } };
    expect(problemsOfChange(v1, issued, { status: {} }, 'status')).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    expect(problemsOfChange(beta, issued, { status: {} }, 'status')).toEqual([]);
  });
});
