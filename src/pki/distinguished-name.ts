import { asn1, type asn1 as Asn1 } from 'node-forge';

/** The parts of an X.509 subject that Kubernetes reads: CN is the user's name, each O one of the groups. */
export interface DistinguishedName {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const OID_COMMON_NAME = '2.5.4.3';
const OID_ORGANIZATION = '2.5.4.10';

export function sequence(...children: readonly Asn1.Asn1[]): Asn1.Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [...children]);
}

export function objectIdentifier(oid: string): Asn1.Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(oid).getBytes());
}

function attribute(oid: string, value: string): Asn1.Asn1 {
  const text = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.UTF8, false, Buffer.from(value, 'utf8').toString('binary'));
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SET, true, [sequence(objectIdentifier(oid), text)]);
}

/** RFC 5280 Name: organizations first, then the common name, each a relative name of its own. */
export function encodeName({ commonName, organizations }: DistinguishedName): Asn1.Asn1 {
  return sequence(
    ...organizations.map((organization) => attribute(OID_ORGANIZATION, organization)),
    attribute(OID_COMMON_NAME, commonName),
  );
}
