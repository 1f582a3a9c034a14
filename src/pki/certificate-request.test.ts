import { util } from 'node-forge';
import { newCertificateRequest } from './certificate-request.fixture';
import { parseCertificateRequest, requestedOrganizations } from './certificate-request';
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

  const block = (base64: string): string =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${base64}\n-----END CERTIFICATE REQUEST-----\n`;
  const derOf = (pem: string): Buffer => [...pemBlocks(pem)][0]?.bytes ?? Buffer.alloc(0);

  test('a request that is signed with another key is refused', () => {
    const forged = Buffer.from(derOf(request));
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
    expect(() => parseCertificateRequest(block(forged.toString('base64')))).toThrow('crypto/rsa: verification error');
  });

  test.each([
    ['no PEM', 'PEM block type must be CERTIFICATE REQUEST'],
    [request.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), 'PEM block type must be CERTIFICATE REQUEST'],
    [block(''), 'asn1: syntax error: sequence truncated'],
    [block('MA=='), 'asn1: syntax error: truncated tag or length'],
    [block('MIAAAA=='), 'asn1: syntax error: indefinite length found (not DER)'],
    [block('MAUCAQA='), 'asn1: syntax error: data truncated'],
    [block('MIIAgQ=='), 'asn1: structure error: superfluous leading zeros in length'],
    [
      block('AAAA'),
      "asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) {optional",
    ],
    [block('MAMCAQA='), 'stringType:0 timeType:0 set:false omitEmpty:false} tbsCertificateRequest @2'],
    [block('MAIwAA=='), 'x509: malformed certificate request'],
    [block(Buffer.concat([derOf(request), Buffer.alloc(1)]).toString('base64')), 'asn1: syntax error: trailing data'],
  ])('what is no request is refused', (pem, message) => {
    expect(() => parseCertificateRequest(pem)).toThrow(message);
  });
});

describe('what is far longer than a request', () => {
  /** A sequence of sequences of so many empty values, framed as a request is. */
  const requestOf = (values: number): string => {
    const sequence = (value: Buffer): Buffer => {
      const isLong = value.length > 0xffff;
      const length = Buffer.alloc(isLong ? 3 : 2);
      length.writeUIntBE(value.length, 0, length.length);
      return Buffer.concat([Buffer.from([0x30, isLong ? 0x83 : 0x82]), length, value]);
    };
    const bytes = sequence(sequence(Buffer.alloc(2 * values, Buffer.from('0500', 'hex'))));
    return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  };

  test.each([
    ['in characters', 'x'.repeat(2_000_000), 'a request has at most 131072 characters'],
    ['in values', requestOf(40_000), 'a request has at most 8000 values'],
  ])('is refused before it is read: %s', (_, pem, message) => {
    const read = jest.spyOn(util, 'createBuffer');
    expect(() => parseCertificateRequest(pem)).toThrow(message);
    expect(() => requestedOrganizations(pem)).toThrow(message);
    expect(read).not.toHaveBeenCalled();
    expect(() => parseCertificateRequest(requestOf(7_900))).toThrow('x509: malformed certificate request');
    expect(read).toHaveBeenCalled();
    read.mockRestore();
  });

  test('is refused in the names that it holds encoded once more, too', () => {
    const names = Array.from({ length: 8_000 }, () => ({ type: 2, value: 'a' }));
    expect(() => parseCertificateRequest(newCertificateRequest(subject, names))).toThrow('at most 8000 values');
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
    ['no line of its own for the begin', 'text-----BEGIN A-----\neA==\n-----END A-----\n', []],
    ['no line of its own for the end', '-----BEGIN A-----\neA==-----END A-----\n', []],
    [
      'a begin without an end before',
      '-----BEGIN A-----\n-----BEGIN A-----\neA==\n-----END A-----\n',
      [['A', false, 'x']],
    ],
    ['text behind an end', '-----BEGIN A-----\neA==\n-----END A----- x\n', []],
  ])('%s', (_name, text, blocks) => {
    expect([...pemBlocks(text)].map(({ label, hasHeaders, bytes }) => [label, hasHeaders, bytes.toString()])).toEqual(
      blocks,
    );
  });

  test('of nothing but beginnings, headers or blanks are read in time that grows with the text', () => {
    for (const part of ['-----BEGIN A-----\n', '-----BEGIN A-----\nH: v\n', `-----BEGIN ${' '.repeat(50)}x\n`]) {
      const text = part.repeat(2_000_000 / part.length);
      expect([...pemBlocks(text)]).toEqual([]);
      expect([...pemBlocks(`${text}-----END A-----\n`)].length).toBeLessThan(2);
    }
  });
});
