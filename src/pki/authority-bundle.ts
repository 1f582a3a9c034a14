import { X509Certificate } from 'node:crypto';

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** A chain longer than this is no chain. */
const MAX_LINKS = 10;

interface Verdict {
  readonly good: boolean;
  /** Milliseconds since the epoch: outside of these the chain is not valid. */
  readonly from: number;
  readonly until: number;
}

/**
 * The certificates of a CA file. Says whether a chain, which TLS has checked already, ends at one of them: the listener
 * knows several CAs with different rights. Each leaf is looked at once and its validity at every question.
 */
export class AuthorityBundle {
  readonly #authorities: readonly X509Certificate[];
  readonly #verdicts = new WeakMap<X509Certificate, Verdict>();
  readonly #now: () => number;

  /** Throws when the text holds no certificate, or one that cannot be read. */
  constructor(
    readonly pem: string,
    now: () => number = Date.now,
  ) {
    this.#authorities = (pem.match(PEM_BLOCK) ?? []).map((block) => new X509Certificate(block));
    if (this.#authorities.length === 0) throw new Error('the CA file holds no certificate');
    this.#now = now;
  }

  get certificates(): readonly X509Certificate[] {
    return this.#authorities;
  }

  vouchesFor(leaf: X509Certificate): boolean {
    let verdict = this.#verdicts.get(leaf);
    if (verdict === undefined) this.#verdicts.set(leaf, (verdict = this.#judge(leaf)));
    const now = this.#now();
    return verdict.good && verdict.from <= now && now <= verdict.until;
  }

  #judge(leaf: X509Certificate): Verdict {
    let from = -Infinity;
    let until = Infinity;
    let current: X509Certificate | undefined = leaf;
    for (let links = 0; current !== undefined && links < MAX_LINKS; links++) {
      from = Math.max(from, Date.parse(current.validFrom));
      until = Math.min(until, Date.parse(current.validTo));
      const authority = this.#issuerOf(current);
      if (authority !== undefined) {
        return {
          good: true,
          from: Math.max(from, Date.parse(authority.validFrom)),
          until: Math.min(until, Date.parse(authority.validTo)),
        };
      }
      const issuer: X509Certificate | undefined = current.issuerCertificate;
      if (issuer === undefined || issuer.fingerprint256 === current.fingerprint256) break;
      if (!issuer.ca || !signedBy(current, issuer)) break;
      current = issuer;
    }
    return { good: false, from, until };
  }

  #issuerOf(certificate: X509Certificate): X509Certificate | undefined {
    return this.#authorities.find(
      (authority) =>
        authority.fingerprint256 === certificate.fingerprint256 || (authority.ca && signedBy(certificate, authority)),
    );
  }
}

function signedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
