import { createSign, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { asn1, type asn1 as Asn1 } from 'node-forge';
import { encodeName, objectIdentifier, sequence } from '../../src/pki/distinguished-name';
import { toPem } from '../../src/pki/certificate';

const ALGORITHMS = {
  rsa: '1.2.840.113549.1.1.11',
  ec: '1.2.840.10045.4.3.2',
  ed25519: '1.3.101.112',
} as const;

export type KeyType = keyof typeof ALGORITHMS;

export interface RequestedNames {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
}

export interface MadeRequest {
  readonly privateKey: KeyObject;
  readonly privateKeyPem: string;
  /** base64 of PEM, as in `spec.request`. */
  readonly request: string;
}

function newKey(type: KeyType) {
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
}

function node(tagClass: Asn1.Class, type: number, constructed: boolean, value: string | Asn1.Asn1[]): Asn1.Asn1 {
  return asn1.create(tagClass, type, constructed, value);
}

/** A certificate request with a new key, as kubelets make them. */
export function makeCertificateRequest(names: RequestedNames, type: KeyType = 'ec'): MadeRequest {
  const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;
  const { publicKey, privateKey } = newKey(type);
  const altNames = sequence(...(names.dnsNames ?? []).map((name) => node(CONTEXT_SPECIFIC, 2, false, name)));
  const extensions = sequence(
    sequence(
      objectIdentifier('2.5.29.17'),
      node(UNIVERSAL, asn1.Type.OCTETSTRING, false, asn1.toDer(altNames).getBytes()),
    ),
  );
  const attribute = sequence(
    objectIdentifier('1.2.840.113549.1.9.14'),
    node(UNIVERSAL, asn1.Type.SET, true, [extensions]),
  );
  const info = sequence(
    node(UNIVERSAL, asn1.Type.INTEGER, false, '\x00'),
    encodeName({ commonName: names.commonName, organizations: names.organizations ?? [] }),
    asn1.fromDer(publicKey.export({ type: 'spki', format: 'der' }).toString('binary')),
    node(CONTEXT_SPECIFIC, 0, true, names.dnsNames === undefined ? [] : [attribute]),
  );
  const bytes = Buffer.from(asn1.toDer(info).getBytes(), 'binary');
  const signature =
    type === 'ed25519' ? sign(null, bytes, privateKey) : createSign('sha256').update(bytes).sign(privateKey);
  const whole = sequence(
    info,
    sequence(objectIdentifier(ALGORITHMS[type])),
    node(UNIVERSAL, asn1.Type.BITSTRING, false, `\x00${signature.toString('binary')}`),
  );
  const pem = toPem('CERTIFICATE REQUEST', Buffer.from(asn1.toDer(whole).getBytes(), 'binary'));
  return {
    privateKey,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: Buffer.from(pem).toString('base64'),
  };
}
