import { X509Certificate } from 'node:crypto';
import { CertificateRequestError, MAX_PEM_CHARACTERS, parseCertificateRequest } from '../../pki/certificate-request';
import { derHeader } from '../../pki/der-header';
import { pemBlocks } from '../../pki/pem';
import { duplicate, forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { deepEqual } from '../kinds/deep-equal';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type {
  CertificateSigningRequestCondition as Condition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from '../schema/generated/certificates-v1';
import { byteListLiteral, invalidLiteral } from './go-literal';
import { LEGACY_SIGNER, validateSignerName } from './signer-name';
import { repetitionsInOrder } from './repetitions';
import { checkEach } from './check-each';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const STATUSES = ['False', 'True', 'Unknown'];
/** Decisions are made or not: such a condition is true as long as it is there. */
const DECISIONS = ['Approved', 'Denied'];
const ALWAYS_TRUE = [...DECISIONS, 'Failed'];

/** What v1 refuses, unless the object has it already; v1beta1 takes more. */
interface Leniency {
  readonly resetCertificate: boolean;
  readonly bothDecisions: boolean;
  readonly legacySigner: boolean;
  readonly repeatedConditions: boolean;
  readonly untypedConditions: boolean;
  readonly anyCertificate: boolean;
  readonly unknownUsages: boolean;
  readonly repeatedUsages: boolean;
}

function specOf(object: KubeObject | undefined): CertificateSigningRequestSpec {
  return object?.['spec'] ?? {};
}

function statusOf(object: KubeObject | undefined): CertificateSigningRequestStatus {
  return object?.['status'] ?? {};
}

function conditionsOf(object: KubeObject | undefined, type?: string): readonly Condition[] {
  const conditions = statusOf(object).conditions ?? [];
  return type === undefined ? conditions : conditions.filter((condition) => condition.type === type);
}

function hasRepeats(list: readonly unknown[]): boolean {
  return new Set(list).size < list.length;
}

function leniency(object: KubeObject, old: KubeObject | undefined, requested?: RequestedVersion): Leniency {
  const isBeta = requested?.version === 'v1beta1';
  const types = conditionsOf(old).map(({ type }) => type ?? '');
  const usages = specOf(old).usages ?? [];
  const isUnchanged = old !== undefined && certificateOf(object) === certificateOf(old);
  return {
    resetCertificate: isBeta,
    bothDecisions: DECISIONS.every((type) => types.includes(type)),
    legacySigner: isBeta || specOf(old).signerName === LEGACY_SIGNER,
    repeatedConditions: isBeta || hasRepeats(types),
    untypedConditions: isBeta || types.includes(''),
    anyCertificate: isBeta || isUnchanged,
    unknownUsages: isBeta || usages.some((usage) => !USAGES.includes(usage)),
    repeatedUsages: isBeta || hasRepeats(usages),
  };
}

function certificateOf(object: KubeObject): string {
  return statusOf(object).certificate ?? '';
}

function validateRequest(request: string | null | undefined): readonly FieldError[] {
  const bytes = request === undefined || request === null ? undefined : Buffer.from(request, 'base64');
  try {
    parseCertificateRequest(bytes?.toString('latin1') ?? '');
    return [];
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    return [invalidLiteral('spec.request', byteListLiteral('[]byte', bytes), error.message)];
  }
}

function validateUsages(usages: readonly string[], lenient: Leniency): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return [
    ...(usages.length === 0 ? [required('spec.usages', 'usages must be provided')] : []),
    ...checkEach(usages, (usage, index) =>
      lenient.unknownUsages || USAGES.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)],
    ),
    ...checkEach(usages, (usage, index) =>
      lenient.repeatedUsages || !isRepeated(usage) ? [] : [duplicate(`spec.usages[${index}]`, usage)],
    ),
  ];
}

function validateConditionStatus({ type = '', status = '' }: Condition, field: string): readonly FieldError[] {
  if (status === '') return [required(field, '')];
  const supported = ALWAYS_TRUE.includes(type) ? ['True'] : STATUSES;
  return supported.includes(status) ? [] : [notSupported(field, status, supported)];
}

function validateConditions(conditions: readonly Condition[], lenient: Leniency): readonly FieldError[] {
  const earlier = new Set<string>();
  return checkEach(conditions, (condition, index) => {
    const { type = '' } = condition;
    const path = `status.conditions[${index}]`;
    const opposite = DECISIONS.find((decision) => decision !== type) ?? '';
    const isContradiction = DECISIONS.includes(type) && earlier.has(opposite);
    const isRepeated = earlier.has(type);
    earlier.add(type);
    return [
      ...(type === '' && !lenient.untypedConditions ? [required(`${path}.type`, '')] : []),
      ...validateConditionStatus(condition, `${path}.status`),
      ...(isContradiction && !lenient.bothDecisions
        ? [invalid(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(isRepeated && !lenient.repeatedConditions ? [duplicate(`${path}.type`, type)] : []),
    ];
  });
}

/** One certificate after the other, as DER. */
function areCertificates(bytes: Buffer): boolean {
  try {
    for (let rest = bytes; rest.length > 0;) {
      const { end } = derHeader(rest, 0);
      if (end > rest.length || new X509Certificate(rest.subarray(0, end)).subject === undefined) return false;
      rest = rest.subarray(end);
    }
    return true;
  } catch {
    return false;
  }
}

function certificateProblem(certificate: string): string | undefined {
  if (certificate === '') return undefined;
  const pem = Buffer.from(certificate, 'base64').toString('latin1');
  if (pem.length > MAX_PEM_CHARACTERS) return `must have at most ${MAX_PEM_CHARACTERS} characters`;
  let hasBlock = false;
  for (const { label, hasHeaders, bytes } of pemBlocks(pem)) {
    hasBlock = true;
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!areCertificates(bytes)) return 'x509: malformed certificate';
  }
  return hasBlock ? undefined : 'must contain at least one CERTIFICATE PEM block';
}

/** What a signer may be asked for at least, in seconds. */
const MIN_EXPIRATION_SECONDS = 600;

function validateExpiration(seconds: number | null | undefined): readonly FieldError[] {
  return seconds == null || seconds >= MIN_EXPIRATION_SECONDS
    ? []
    : [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')];
}

function validateAll(object: KubeObject, lenient: Leniency): readonly FieldError[] {
  const { request, usages, signerName = '', expirationSeconds } = specOf(object);
  const problem = lenient.anyCertificate ? undefined : certificateProblem(certificateOf(object));
  return [
    ...validateRequest(request),
    ...validateUsages(usages ?? [], lenient),
    ...(signerName === LEGACY_SIGNER && !lenient.legacySigner
      ? [invalid('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version')]
      : validateSignerName(signerName, 'spec.signerName')),
    ...validateExpiration(expirationSeconds),
    ...validateConditions(conditionsOf(object), lenient),
    ...(problem === undefined ? [] : [invalid('status.certificate', '<certificate data>', problem)]),
  ];
}

export function validateSigningRequest(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  return validateAll(object, leniency(object, undefined, requested));
}

function validateDecisions(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return DECISIONS.flatMap((type) => {
    const [now, before] = [conditionsOf(object, type), conditionsOf(old, type)];
    if (now.length < before.length || deepEqual(now, before)) return [];
    const change = now.length > before.length ? 'add' : 'modify';
    return [forbiddenField('status.conditions', `updates may not ${change} a condition of type "${type}"`)];
  });
}

function validateCertificateChange(old: KubeObject, lenient: Leniency, maySet: boolean): readonly FieldError[] {
  if (!maySet) return [forbiddenField('status.certificate', 'updates may not set certificate content')];
  return lenient.resetCertificate || certificateOf(old) === ''
    ? []
    : [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
}

/** What a way to write a request may do: decide on it, or put in the certificate. Neither may undo a decision. */
export function validateSigningRequestUpdate(permits: { readonly decide: boolean; readonly certify: boolean }) {
  return (object: KubeObject, old: KubeObject, requested?: RequestedVersion): readonly FieldError[] => {
    const lenient = leniency(object, old, requested);
    return [
      ...validateAll(object, lenient),
      ...ALWAYS_TRUE.filter((type) => conditionsOf(object, type).length < conditionsOf(old, type).length).map((type) =>
        forbiddenField('status.conditions', `updates may not remove a condition of type "${type}"`),
      ),
      ...(permits.decide ? [] : validateDecisions(object, old)),
      ...(certificateOf(object) === certificateOf(old) ? [] : validateCertificateChange(old, lenient, permits.certify)),
    ];
  };
}
