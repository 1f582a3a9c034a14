import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '../pki/authority';
import { controllerManagerFlags, readSigners } from './controller-manager-flags';
import { parseFlags } from './flag-table';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-signers-'));
  for (const name of ['one', 'two']) {
    const { certificatePem, privateKeyPem } = createAuthority(name, new Date());
    writeFileSync(join(folder, `${name}.crt`), certificatePem);
    writeFileSync(join(folder, `${name}.key`), privateKeyPem);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pair = (flag: string, name: string): readonly string[] =>
  ['cert', 'key'].map((what) => `--cluster-signing-${flag}${what}-file=${join(folder, name)}.${what.replace('cert', 'crt')}`); // prettier-ignore
const signersOf = (argv: readonly string[]) => readSigners(parseFlags(controllerManagerFlags, argv).options);

describe('--cluster-signing-*', () => {
  it('without files signs nothing', () => {
    expect(signersOf([])).toEqual({});
  });

  it('one pair signs for all four signers', () => {
    expect(Object.keys(signersOf(pair('', 'one'))).sort()).toEqual([
      'kubernetes.io/kube-apiserver-client',
      'kubernetes.io/kube-apiserver-client-kubelet',
      'kubernetes.io/kubelet-serving',
      'kubernetes.io/legacy-unknown',
    ]);
  });

  it.each([
    ['kubelet-serving-', 'kubernetes.io/kubelet-serving'],
    ['kubelet-client-', 'kubernetes.io/kube-apiserver-client-kubelet'],
    ['kube-apiserver-client-', 'kubernetes.io/kube-apiserver-client'],
    ['legacy-unknown-', 'kubernetes.io/legacy-unknown'],
  ])('the pair of %s is for its signer alone', (flag, signerName) => {
    expect(Object.keys(signersOf(pair(flag, 'one')))).toEqual([signerName]);
  });

  it('each signer has its own authority', () => {
    const signers = signersOf([...pair('kubelet-serving-', 'one'), ...pair('legacy-unknown-', 'two')]);
    const certificates = Object.values(signers).map((signer) => signer?.certificatePem);
    expect(new Set(certificates).size).toBe(2);
  });

  it('a pair for all and one for a signer exclude each other, and a certificate needs its key', () => {
    expect(() => signersOf([...pair('', 'one'), ...pair('kubelet-client-', 'two')])).toThrow('exclude');
    expect(() => signersOf(pair('kubelet-client-', 'two').slice(0, 1))).toThrow(
      'the certificate and the key for kubernetes.io/kube-apiserver-client-kubelet belong together',
    );
  });
});
