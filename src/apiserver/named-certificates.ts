import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { KeyPair } from '../pki/authority';
import { readPemPair } from '../pki/pem-files';

/** A value of `--tls-sni-cert-key`: `cert,key` or `cert,key:pattern,pattern`. */
export interface NamedCertificateFlag {
  readonly certFile: string;
  readonly keyFile: string;
  /** Names, of which the first label may be a star. Empty: those of the certificate. */
  readonly patterns: readonly string[];
}

/** A certificate for clients that ask for one of its names. */
export interface NamedCertificate extends KeyPair {
  readonly patterns: readonly string[];
}

/** Undefined for what is not of the form. */
export function parseNamedCertificate(text: string): NamedCertificateFlag | undefined {
  const colon = text.indexOf(':');
  const files = colon < 0 ? text : text.slice(0, colon);
  const [certFile = '', keyFile = '', ...more] = files.split(',').map((part) => part.trim());
  if (certFile === '' || keyFile === '' || more.length > 0) return undefined;
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',');
  const patterns = names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '');
  return { certFile, keyFile, patterns };
}

const PATTERN = /^(\*\.)*[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** What is wrong with one value of the flag. */
export function namedCertificateProblems(text: string): readonly string[] {
  const parsed = parseNamedCertificate(text);
  if (parsed === undefined) {
    return [`--tls-sni-cert-key ${JSON.stringify(text)}: expected comma separated certificate and key file paths`];
  }
  return parsed.patterns
    .filter((pattern) => isIP(pattern) === 0 && !PATTERN.test(pattern))
    .map((pattern) => `--tls-sni-cert-key ${JSON.stringify(text)}: ${JSON.stringify(pattern)} is no name`);
}

/** Reads the files. Throws when one cannot be read, or a certificate has no name and none is given. */
export function loadNamedCertificate({ certFile, keyFile, patterns }: NamedCertificateFlag): NamedCertificate {
  const advice = 'It is named by --tls-sni-cert-key: name another, or mend it';
  return { ...readPemPair(certFile, keyFile, advice), patterns };
}

/**
 * Which certificate a client gets by the name it asks for: exact names come before stars, names that were given before
 * those that certificates bring, and the certificate that was named first before later ones. Names in any case, with or
 * without the last dot; a star stands for one label.
 */
export function certificatesByName<T>(
  certificates: readonly (Pick<NamedCertificate, 'patterns' | 'certificatePem'> & { readonly value: T })[],
): (name: string) => T | undefined {
  const byName = new Map<string, T>();
  const put = (names: readonly string[], value: T): void => {
    for (const name of names) if (!byName.has(name)) byName.set(name, value);
  };
  for (const { patterns, value } of certificates) put(patterns, value);
  for (const { patterns, certificatePem, value } of certificates) {
    if (patterns.length === 0) put(namesOf(certificatePem), value);
  }
  return (asked) => {
    const name = asked.toLowerCase().replace(/\.+$/, '');
    return byName.get(name) ?? byName.get(name.replace(/^[^.]*/, '*'));
  };
}

/** The alternative names of a certificate, or where it has none its common name. */
function namesOf(pem: string): readonly string[] {
  const certificate = new X509Certificate(pem);
  const alternatives = (certificate.subjectAltName ?? '')
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1]?.toLowerCase() ?? []);
  if (alternatives.length > 0) return alternatives;
  const commonName = /^CN=(.+)$/m.exec(certificate.subject)?.[1]?.toLowerCase();
  return commonName === undefined || !PATTERN.test(commonName) ? [] : [commonName];
}
