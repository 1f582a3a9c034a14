import { pki } from 'node-forge';

/** A PEM request for this subject, signed with a new key; with `altNames`, for these names too. */
export function newCertificateRequest(
  subject: readonly { readonly shortName: string; readonly value: string }[],
  altNames: readonly { readonly type: number; readonly value?: string; readonly ip?: string }[] = [],
): string {
  const keys = pki.rsa.generateKeyPair({ bits: 1024, e: 0x10001 });
  const request = pki.createCertificationRequest();
  request.publicKey = keys.publicKey;
  request.setSubject([...subject]);
  if (altNames.length > 0) {
    request.setAttributes([{ name: 'extensionRequest', extensions: [{ name: 'subjectAltName', altNames }] }] as never);
  }
  request.sign(keys.privateKey);
  return pki.certificationRequestToPem(request);
}
