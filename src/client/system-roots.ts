import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Where distributions keep the authorities that they trust, in one file. */
const FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

let known: string | undefined;

/**
 * The authorities that the system trusts, as PEM text: of the file that `SSL_CERT_FILE` names, else of the first that is there, else
 * those that come with Node.js. Read once.
 */
export function systemRoots(environment: NodeJS.ProcessEnv = process.env): string {
  return (known ??= readRoots(environment['SSL_CERT_FILE']));
}

function readRoots(named: string | undefined): string {
  for (const file of named ? [named] : FILES) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      // The next one.
    }
  }
  return named ? '' : rootCertificates.join('\n');
}
