import { createSecureContext } from 'node:tls';
import { statSync } from 'node:fs';
import type { TlsOptions } from '../http/server';
import type { Logger } from '../observability/logger';
import { AuthorityBundle } from '../pki/authority-bundle';
import type { CertificateFiles, ServingCertificates } from './certificates';

export interface TlsMaterialOptions {
  /** Reads all certificates again. Throws when a file cannot be read. */
  readonly load: () => ServingCertificates;
  readonly files: CertificateFiles;
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
  readonly #options: TlsMaterialOptions;
  readonly #timer: NodeJS.Timeout;
  #certificates: ServingCertificates;
  #clientAuthority: AuthorityBundle | undefined;
  #frontAuthority: AuthorityBundle | undefined;
  #seen: string;
  #changed: ((tls: TlsOptions) => void) | undefined;

  constructor(certificates: ServingCertificates, options: TlsMaterialOptions) {
    this.#options = options;
    this.#certificates = certificates;
    this.#clientAuthority = bundleOf(certificates.clientAuthority);
    this.#frontAuthority = bundleOf(certificates.frontAuthority);
    this.#seen = this.#stamp();
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
  }

  readonly clientAuthority = (): AuthorityBundle | undefined => this.#clientAuthority;
  readonly frontAuthority = (): AuthorityBundle | undefined => this.#frontAuthority;

  get tls(): TlsOptions {
    const { serving, clientAuthority, frontAuthority } = this.#certificates;
    const authorities = [clientAuthority, frontAuthority].filter((pem) => pem !== undefined);
    return {
      cert: serving.certificatePem,
      key: serving.privateKeyPem,
      ...(authorities.length === 0 ? {} : { ca: authorities }),
      ...this.#options.protocol,
    };
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

  /** Changes when one of the files does, whatever way it was replaced. */
  #stamp(): string {
    return Object.values(this.#options.files)
      .filter((file) => file !== '')
      .map((file: string) => {
        const stat = statSync(file, { throwIfNoEntry: false });
        return stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
      })
      .join(', ');
  }
}

function bundleOf(pem: string | undefined): AuthorityBundle | undefined {
  return pem === undefined ? undefined : new AuthorityBundle(pem);
}
