import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { statSync } from 'node:fs';
import type { TlsOptions } from '../http/server';
import type { Logger } from '../observability/logger';
import type { KeyPair } from '../pki/authority';
import { AuthorityBundle } from '../pki/authority-bundle';
import type { ServingCertificates } from './certificates';
import { certificatesByName } from './named-certificates';

export interface TlsMaterialOptions {
  /** Reads all certificates again. Throws when a file cannot be read. */
  readonly load: () => ServingCertificates;
  /** Paths of the files that `load` reads. */
  readonly files: readonly string[];
  readonly protocol: Pick<TlsOptions, 'ciphers' | 'minVersion'>;
  readonly logger: Logger;
}

/** How soon a changed file is noticed. */
const POLL_MS = 2000;

/**
 * The certificates of the listener. Files that change are read again: new connections get the new serving certificate,
 * and a client CA counts at once, also on connections that are open. Files that are broken for a moment, as while they
 * are being replaced, change nothing.
 */
export class TlsMaterial {
  #byName: (name: string) => SecureContext | undefined;
  readonly #options: TlsMaterialOptions;
  readonly #timer: NodeJS.Timeout;
  #certificates: ServingCertificates;
  #clientAuthority: AuthorityBundle | undefined;
  #frontAuthority: AuthorityBundle | undefined;
  #seen: string;
  #changed: ((tls: TlsOptions) => void) | undefined;

  /** Throws when a key does not fit its certificate, or a CA is none. */
  constructor(certificates: ServingCertificates, options: TlsMaterialOptions) {
    this.#options = options;
    this.#certificates = certificates;
    this.#byName = this.#contextsByName(certificates);
    this.#clientAuthority = bundleOf(certificates.clientAuthority);
    this.#frontAuthority = bundleOf(certificates.frontAuthority);
    this.#seen = this.#stamp();
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
  }

  readonly clientAuthority = (): AuthorityBundle | undefined => this.#clientAuthority;
  readonly frontAuthority = (): AuthorityBundle | undefined => this.#frontAuthority;

  get tls(): TlsOptions {
    return {
      ...this.#contextOptions(this.#certificates.serving, this.#certificates),
      SNICallback: (name, use) => use(null, this.#byName(name)),
    };
  }

  /** All that are in use now, authorities included. */
  *inUse(): Iterable<{ readonly name: string; readonly certificate: X509Certificate }> {
    const { serving, named } = this.#certificates;
    for (const { certificatePem } of [serving, ...named]) {
      yield { name: 'serving', certificate: new X509Certificate(certificatePem) };
    }
    for (const certificate of this.#clientAuthority?.certificates ?? []) yield { name: 'client-ca', certificate };
    for (const certificate of this.#frontAuthority?.certificates ?? []) yield { name: 'front-proxy-ca', certificate };
  }

  /** Told when the listener should use other certificates. */
  onChanged(changed: (tls: TlsOptions) => void): void {
    this.#changed = changed;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const stamp = this.#stamp();
    if (stamp === this.#seen) return;
    const { load, logger } = this.#options;
    const before = this.#certificates;
    try {
      const certificates = load();
      const clientAuthority = bundleOf(certificates.clientAuthority);
      const frontAuthority = bundleOf(certificates.frontAuthority);
      this.#certificates = certificates;
      const { tls } = this;
      createSecureContext(tls);
      this.#byName = this.#contextsByName(certificates);
      this.#clientAuthority = clientAuthority;
      this.#frontAuthority = frontAuthority;
      this.#seen = stamp;
      this.#changed?.(tls);
      logger.info('certificates were read again');
    } catch (error) {
      this.#certificates = before;
      logger.warn({ err: error }, 'changed certificates cannot be used yet');
    }
  }

  #contextOptions(
    { certificatePem, privateKeyPem }: KeyPair,
    { clientAuthority, frontAuthority }: ServingCertificates,
  ): Omit<TlsOptions, 'SNICallback'> {
    const authorities = [clientAuthority, frontAuthority].filter((pem) => pem !== undefined);
    return {
      cert: certificatePem,
      key: privateKeyPem,
      ...(authorities.length === 0 ? {} : { ca: authorities }),
      ...this.#options.protocol,
    };
  }

  /** Made once, not at each handshake. */
  #contextsByName(certificates: ServingCertificates): (name: string) => SecureContext | undefined {
    return certificatesByName(
      certificates.named.map((pair) => ({
        ...pair,
        value: createSecureContext(this.#contextOptions(pair, certificates)),
      })),
    );
  }

  /** Changes when one of the files does, whatever way it was replaced. */
  #stamp(): string {
    return this.#options.files
      .map((file) => {
        const stat = statSync(file, { throwIfNoEntry: false });
        return stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
      })
      .join(', ');
  }
}

function bundleOf(pem: string | undefined): AuthorityBundle | undefined {
  return pem === undefined ? undefined : new AuthorityBundle(pem);
}
