import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { certificateDirectory } from '../../apiserver/certificates';
import type { ApiserverOptions } from '../../flags/apiserver-flags';
import { belongTogether } from '../../pki/pem-files';
import { pemBlocks } from '../../pki/pem';
import { fail, ok, warn, type Finding } from './finding';

const DAY_MS = 24 * 60 * 60_000;
const SOON_DAYS = 30;
const VERY_SOON_DAYS = 7;

type Files = Pick<
  ApiserverOptions,
  | 'dataDir'
  | 'certDir'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'clientCaFile'
  | 'requestheaderClientCaFile'
  | 'etcdCafile'
  | 'etcdCertfile'
  | 'etcdKeyfile'
  | 'kubeletClientCertificate'
  | 'kubeletClientKey'
>;

/** The certificates that flags name, and those that the server has made for itself. Nothing is made. */
export function certificateFindings(options: Files, now: number): readonly Finding[] {
  const directory = certificateDirectory(options.dataDir, options.certDir);
  const made = ['ca.crt', 'apiserver.crt', 'admin.crt']
    .map((name) => join(directory, name))
    .filter((file) => existsSync(file));
  const given = [
    options.tlsCertFile,
    options.clientCaFile,
    options.requestheaderClientCaFile,
    options.etcdCafile,
    options.etcdCertfile,
    options.kubeletClientCertificate,
  ].filter((file) => file !== '');
  const pairs = [
    [options.tlsCertFile, options.tlsPrivateKeyFile],
    [options.etcdCertfile, options.etcdKeyfile],
    [options.kubeletClientCertificate, options.kubeletClientKey],
  ] as const;
  return [
    ...[...new Set([...given, ...made])].flatMap((file) => ofFile(file, now)),
    ...pairs.flatMap(([certificate, key]) => (certificate === '' || key === '' ? [] : ofPair(certificate, key))),
  ];
}

function ofFile(file: string, now: number): readonly Finding[] {
  const subject = `certificate ${file}`;
  let texts: readonly Buffer[];
  try {
    const blocks = [...pemBlocks(readFileSync(file, 'utf8'))];
    texts = blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ bytes }) => bytes);
  } catch (error) {
    return [fail(subject, (error as Error).message, 'Put the file in place, or let the user of the server read it.')];
  }
  if (texts.length === 0) return [fail(subject, 'it holds no certificate', 'It has to be PEM text.')];
  return texts.map((text) => validity(subject, text, now));
}

function validity(subject: string, bytes: Buffer, now: number): Finding {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch (error) {
    return fail(
      subject,
      `it cannot be read: ${(error as Error).message}`,
      'It has to be PEM text of an X.509 certificate.',
    );
  }
  const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS);
  if (now < Date.parse(certificate.validFrom)) {
    return fail(
      subject,
      `it is not valid before ${certificate.validFrom}`,
      'Look at the clock of this machine, and of the one that made it.',
    );
  }
  if (days < 0) return fail(subject, `it ended at ${certificate.validTo}`, renewal(subject));
  const text = `it is good until ${certificate.validTo}`;
  if (days < VERY_SOON_DAYS) return fail(subject, `${text}, in ${days} days`, renewal(subject));
  return days < SOON_DAYS ? warn(subject, `${text}, in ${days} days`, renewal(subject)) : ok(subject, text);
}

function renewal(subject: string): string {
  return `Put a new one into ${subject.replace('certificate ', '')}: a running server reads it without a restart. "sternpost certificates" makes some.`;
}

function ofPair(certificateFile: string, keyFile: string): readonly Finding[] {
  const subject = `key ${keyFile}`;
  try {
    // The key first: what is wrong with the certificate has been told of the certificate.
    const privateKeyPem = readFileSync(keyFile, 'utf8');
    if (!existsSync(certificateFile)) return [];
    const certificatePem = readFileSync(certificateFile, 'utf8');
    if (!belongTogether({ certificatePem, privateKeyPem })) {
      return [
        fail(
          subject,
          `it is not that of ${certificateFile}`,
          'Put the key in place that was made with the certificate.',
        ),
      ];
    }
    if ((statSync(keyFile).mode & 0o077) !== 0) {
      return [warn(subject, 'others may read it', `chmod 600 ${keyFile}`)];
    }
    return [ok(subject, `it is that of ${certificateFile}`)];
  } catch (error) {
    return [fail(subject, (error as Error).message, 'Put the file in place, or let the user of the server read it.')];
  }
}
