import { join } from 'node:path';
import { md, pki } from 'node-forge';

/** Writes an authority, and a certificate for 127.0.0.1 that serves both ends of a TLS connection, as PEM files. */
export async function writeTestCertificates(
  folder: string,
  write: (path: string, content: string) => Promise<void>,
): Promise<{ readonly ca: string; readonly certificate: string; readonly key: string }> {
  const authorityKeys = pki.rsa.generateKeyPair(2048);
  const authority = pki.createCertificate();
  authority.publicKey = authorityKeys.publicKey;
  authority.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'keyUsage', keyCertSign: true },
  ]);
  complete(authority, 'test authority', 'test authority', authorityKeys.privateKey);

  const keys = pki.rsa.generateKeyPair(2048);
  const certificate = pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.setExtensions([
    { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
  ]);
  complete(certificate, 'test', 'test authority', authorityKeys.privateKey);

  const paths = { ca: join(folder, 'ca.pem'), certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await write(paths.ca, pki.certificateToPem(authority));
  await write(paths.certificate, pki.certificateToPem(certificate));
  await write(paths.key, pki.privateKeyToPem(keys.privateKey));
  return paths;
}

function complete(certificate: pki.Certificate, subject: string, issuer: string, key: pki.rsa.PrivateKey): void {
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000);
  certificate.setSubject([{ name: 'commonName', value: subject }]);
  certificate.setIssuer([{ name: 'commonName', value: issuer }]);
  certificate.sign(key, md.sha256.create());
}
