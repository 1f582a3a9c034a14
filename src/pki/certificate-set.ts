import {
  readAuthority,
  createAuthority,
  isStillGood,
  issueKeyPair,
  type Authority,
  type KeyPair,
  type LeafSpec,
} from './authority';
import type { DistinguishedName } from './distinguished-name';
import { belongTogether } from './pem-files';
import { createSigningKey } from './signing-keys';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Texts of one set, by the names that they have in a folder or a Secret. */
export type CertificateFiles = Readonly<Record<string, string>>;

/** Where sets are kept: a folder or Secrets. */
export interface CertificatePlace {
  read(set: string): Promise<CertificateFiles | undefined>;
  /** Leaves what the set has besides as it is. */
  write(set: string, files: CertificateFiles): Promise<void>;
  close(): void;
}

export interface CertificateSetOptions {
  /** Of the serving certificate. */
  readonly altNames: readonly string[];
  readonly validityMs: number;
  readonly renewBeforeMs: number;
  readonly serviceAccountKey: boolean;
  readonly frontProxy: boolean;
  /** Sets that hold a kubeconfig with a certificate of its own. */
  readonly users: readonly {
    readonly name: string;
    readonly subject: DistinguishedName;
    readonly print: (certificateAuthority: string, pair: KeyPair) => string;
  }[];
  readonly now: Date;
}

export interface WrittenSet {
  readonly name: string;
  readonly why: 'made' | 'renewed' | 'kept';
}

/**
 * Everything that replicas share: a CA of the server and its clients, the serving certificate, the key of service account tokens, the
 * CA of proxies, kubeconfigs. CAs and keys that are there stay; certificates are made anew when they are no longer good.
 */
export async function makeCertificateSet(
  options: CertificateSetOptions,
  place: CertificatePlace,
): Promise<readonly WrittenSet[]> {
  const sets = new CertificateSets(options, place);
  const authority = await sets.authority('client-ca', 'sternpost-ca');
  const serving = { subject: { commonName: 'kube-apiserver', organizations: [] }, usages: ['server auth'] as const };
  await sets.leaf('tls', authority, { ...serving, altNames: options.altNames });
  if (options.serviceAccountKey) await sets.key('service-account-key', 'sa.key');
  if (options.frontProxy) {
    const front = await sets.authority('front-proxy-ca', 'sternpost-front-proxy-ca');
    const subject = { commonName: 'front-proxy-client', organizations: [] };
    await sets.leaf('front-proxy-client', front, { subject, usages: ['client auth'], altNames: [] }, authority);
  }
  for (const { name, subject, print } of options.users) {
    const spec = { subject, usages: ['client auth'] as const, altNames: [] };
    await sets.leaf(name, authority, spec, authority, (pair) => ({
      kubeconfig: print(authority.certificatePem, pair),
    }));
  }
  return sets.written;
}

class CertificateSets {
  readonly written: WrittenSet[] = [];
  readonly #options: CertificateSetOptions;
  readonly #place: CertificatePlace;

  constructor(options: CertificateSetOptions, place: CertificatePlace) {
    this.#options = options;
    this.#place = place;
  }

  /** Throws when a CA is there without its key: another one in its place would lock out everybody who trusts it. */
  async authority(name: string, commonName: string): Promise<Authority> {
    const found = await this.#place.read(name);
    const pair = pairOf(found, 'ca');
    if (pair !== undefined) {
      this.written.push({ name, why: 'kept' });
      return readAuthority(pair);
    }
    if (found?.['ca.crt'] !== undefined)
      throw new Error(`${name} has a CA without its key (ca.key): restore it, or remove ${name}`);
    const made = createAuthority(commonName, this.#options.now);
    await this.#write(name, { 'ca.crt': made.certificatePem, 'ca.key': made.privateKeyPem }, 'made');
    return made;
  }

  /** `shown` is the CA that lies beside it: what its holder verifies the server by. */
  async leaf(
    name: string,
    authority: Authority,
    spec: LeafSpec,
    shown: Authority = authority,
    extra: (pair: KeyPair) => CertificateFiles = () => ({}),
  ): Promise<void> {
    const { now, renewBeforeMs, validityMs } = this.#options;
    const before = await this.#place.read(name);
    const found = pairOf(before, 'tls');
    if (found !== undefined && isStillGood(found, authority, spec.altNames, now, renewBeforeMs)) {
      const files = this.#files(found, shown, extra);
      if (Object.entries(files).every(([file, text]) => before?.[file] === text)) {
        this.written.push({ name, why: 'kept' });
        return;
      }
      return this.#write(name, files, 'renewed');
    }
    const made = issueKeyPair(authority, spec, now, validityMs / DAY_MS);
    await this.#write(name, this.#files(made, shown, extra), found === undefined ? 'made' : 'renewed');
  }

  async key(name: string, file: string): Promise<void> {
    if ((await this.#place.read(name))?.[file] !== undefined) this.written.push({ name, why: 'kept' });
    else await this.#write(name, { [file]: await createSigningKey() }, 'made');
  }

  #files(pair: KeyPair, shown: Authority, extra: (pair: KeyPair) => CertificateFiles): CertificateFiles {
    return {
      'ca.crt': shown.certificatePem,
      'tls.crt': pair.certificatePem,
      'tls.key': pair.privateKeyPem,
      ...extra(pair),
    };
  }

  async #write(name: string, files: CertificateFiles, why: WrittenSet['why']): Promise<void> {
    await this.#place.write(name, files);
    this.written.push({ name, why });
  }
}

/** Undefined when one of the two is missing, or they do not belong together. */
function pairOf(files: CertificateFiles | undefined, name: 'ca' | 'tls'): KeyPair | undefined {
  const [certificatePem, privateKeyPem] = [files?.[`${name}.crt`], files?.[`${name}.key`]];
  if (certificatePem === undefined || privateKeyPem === undefined) return undefined;
  const pair = { certificatePem, privateKeyPem };
  return belongTogether(pair) ? pair : undefined;
}
