import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** A file of keys or certificates cannot be used. The message names the file, what is wrong with it, and what to do. */
export class PemFileError extends Error {
  constructor(file: string, problem: string, advice: string, options?: ErrorOptions) {
    super(`${file}: ${problem}. ${advice}`, options);
    this.name = 'PemFileError';
  }
}

export interface PemPair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** The certificates of a file, as they stand there. `advice` ends the message about a file that is no good. */
export function readCertificates(file: string, advice: string): string {
  const pem = read(file, advice);
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new PemFileError(file, 'it holds no certificate', advice);
  for (const block of blocks) parse(file, 'certificate', advice, () => new X509Certificate(block));
  return pem;
}

export function readPrivateKey(file: string, advice: string): string {
  const pem = read(file, advice);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new PemFileError(file, 'it holds no private key', advice);
  parse(file, 'private key', advice, () => createPrivateKey(pem));
  return pem;
}

/** A certificate (of a chain, the first) and its key. */
export function readPemPair(certificateFile: string, keyFile: string, advice: string): PemPair {
  const pair = {
    certificatePem: readCertificates(certificateFile, advice),
    privateKeyPem: readPrivateKey(keyFile, advice),
  };
  if (!belongTogether(pair)) throw new PemFileError(keyFile, `it is not the key of ${certificateFile}`, advice);
  return pair;
}

export function belongTogether({ certificatePem, privateKeyPem }: PemPair): boolean {
  return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(privateKeyPem));
}

function read(file: string, advice: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new PemFileError(file, `it cannot be read (${(error as Error).message})`, advice, { cause: error });
  }
}

function parse(file: string, what: string, advice: string, parser: () => unknown): void {
  try {
    parser();
  } catch (error) {
    const problem = `it holds a ${what} that cannot be read (${(error as Error).message})`;
    throw new PemFileError(file, problem, advice, { cause: error });
  }
}
