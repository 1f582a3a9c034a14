import { newCertificateRequest } from './certificate-request.fixture';
import { parseCertificateRequest } from './certificate-request';
import { pemBlocks } from './pem';

const subject = [
  { shortName: 'O', value: 'dev' },
  { shortName: 'O', value: 'ops' },
  { shortName: 'CN', value: 'carol' },
];
const request = newCertificateRequest(subject, [
  { type: 2, value: 'a.example.com' },
  { type: 7, ip: '10.0.0.1' },
  { type: 1, value: 'c@example.com' },
]);

describe('certificate requests', () => {
  test('a request says whom the certificate is to be about', () => {
    expect(parseCertificateRequest(request)).toMatchObject({
      commonName: 'carol',
      organizations: ['dev', 'ops'],
      dnsNames: ['a.example.com'],
      emailAddresses: ['c@example.com'],
      uris: [],
    });
    expect(parseCertificateRequest(request).ipAddresses).toHaveLength(1);
  });

  test('a request that is signed with another key is refused', () => {
    const der = pemBlocks(request)[0]?.bytes ?? Buffer.alloc(0);
    const forged = Buffer.from(der);
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${forged.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(() => parseCertificateRequest(pem)).toThrow('crypto/rsa: verification error');
  });

  test.each([
    ['no PEM', 'PEM block type must be CERTIFICATE REQUEST'],
    [request.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), 'PEM block type must be CERTIFICATE REQUEST'],
    [
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n',
      'x509: malformed certificate request',
    ],
  ])('what is no request is refused', (pem, message) => {
    expect(() => parseCertificateRequest(pem)).toThrow(message);
  });
});

describe('PEM texts', () => {
  test.each<[string, string, readonly (readonly [string, boolean, string])[]]>([
    ['text around a block', 'before\n-----BEGIN A-----\neA==\n-----END A-----\nafter', [['A', false, 'x']]],
    ['headers', '-----BEGIN A-----\nH: v\n\neA==\n-----END A-----\n', [['A', true, 'x']]],
    ['an empty block', '-----BEGIN A-----\n-----END A-----\n', [['A', false, '']]],
    ['carriage returns', '-----BEGIN A-----\r\neA==\r\n-----END A-----\r\n', [['A', false, 'x']]],
    ['another end', '-----BEGIN A-----\neA==\n-----END B-----\n', []],
    ['no base64', '-----BEGIN A-----\n!!\n-----END A-----\n', []],
  ])('%s', (_name, text, blocks) => {
    expect(pemBlocks(text).map(({ label, hasHeaders, bytes }) => [label, hasHeaders, bytes.toString()])).toEqual(
      blocks,
    );
  });
});
