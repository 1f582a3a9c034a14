import { X509Certificate } from 'node:crypto';
import {
  makeCertificateSet,
  type CertificateFiles,
  type CertificatePlace,
  type CertificateSetOptions,
} from './certificate-set';

const DAY_MS = 24 * 60 * 60 * 1000;
const START = new Date('2026-01-01T00:00:00Z');

class Shelf implements CertificatePlace {
  readonly sets = new Map<string, CertificateFiles>();
  read = async (set: string): Promise<CertificateFiles | undefined> => this.sets.get(set);
  write = async (set: string, files: CertificateFiles): Promise<void> =>
    void this.sets.set(set, { ...this.sets.get(set), ...files });
  close = (): void => undefined;
  certificate(set: string, file = 'tls.crt'): X509Certificate {
    return new X509Certificate(this.sets.get(set)?.[file] ?? '');
  }
}

const options: CertificateSetOptions = {
  altNames: ['api.example.com', '10.0.0.1'],
  validityMs: 365 * DAY_MS,
  renewBeforeMs: 60 * DAY_MS,
  serviceAccountKey: true,
  frontProxy: true,
  users: [
    {
      name: 'admin-kubeconfig',
      subject: { commonName: 'admin', organizations: ['system:masters'] },
      print: (ca, { certificatePem }) => `${ca}${certificatePem}`,
    },
  ],
  now: START,
};

const later = (days: number): Date => new Date(START.getTime() + days * DAY_MS);

describe('the certificates that replicas share', () => {
  it('are all made on the first run', async () => {
    const shelf = new Shelf();
    const written = await makeCertificateSet(options, shelf);
    expect(written.map(({ name }) => name)).toEqual([
      'client-ca',
      'tls',
      'service-account-key',
      'front-proxy-ca',
      'front-proxy-client',
      'admin-kubeconfig',
    ]);
    expect(new Set(written.map(({ why }) => why))).toEqual(new Set(['made']));
    const ca = shelf.certificate('client-ca', 'ca.crt');
    expect(shelf.certificate('tls').verify(ca.publicKey)).toBe(true);
    expect(shelf.certificate('tls').checkIP('10.0.0.1')).toBe('10.0.0.1');
    expect(shelf.certificate('admin-kubeconfig').subject).toContain('O=system:masters');
    expect(shelf.certificate('front-proxy-client').verify(ca.publicKey)).toBe(false);
  });

  it('stay as they are on the second', async () => {
    const shelf = new Shelf();
    await makeCertificateSet(options, shelf);
    const before = new Map(shelf.sets);
    const written = await makeCertificateSet({ ...options, now: later(10) }, shelf);
    expect(new Set(written.map(({ why }) => why))).toEqual(new Set(['kept']));
    expect(shelf.sets).toEqual(before);
  });

  it('are renewed before they end, and CAs and keys stay', async () => {
    const shelf = new Shelf();
    await makeCertificateSet(options, shelf);
    const written = await makeCertificateSet({ ...options, now: later(306) }, shelf);
    expect(written.filter(({ why }) => why === 'renewed').map(({ name }) => name)).toEqual([
      'tls',
      'front-proxy-client',
      'admin-kubeconfig',
    ]);
    expect(shelf.certificate('tls').verify(shelf.certificate('client-ca', 'ca.crt').publicKey)).toBe(true);
  });

  it('are renewed when a name is missing', async () => {
    const shelf = new Shelf();
    await makeCertificateSet(options, shelf);
    const altNames = [...options.altNames, 'other.example.com'];
    const written = await makeCertificateSet({ ...options, altNames }, shelf);
    expect(written.filter(({ why }) => why === 'renewed').map(({ name }) => name)).toEqual(['tls']);
  });

  it('are not made of a new CA when the key of the old one is gone', async () => {
    const shelf = new Shelf();
    await makeCertificateSet(options, shelf);
    shelf.sets.set('client-ca', { 'ca.crt': shelf.sets.get('client-ca')?.['ca.crt'] ?? '' });
    await expect(makeCertificateSet(options, shelf)).rejects.toThrow('client-ca has a CA without its key');
  });
});
