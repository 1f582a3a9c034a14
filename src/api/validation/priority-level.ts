import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { RequestedVersion } from '../kinds/kind-definition';
import type {
  ExemptPriorityLevelConfiguration,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../schema/generated/flowcontrol-v1beta1';
import { validateFlowControlStatus } from './flow-schema';

const EXEMPT_LEVEL = 'exempt';
const TYPES = ['Exempt', 'Limited'];
const RESPONSES = ['Queue', 'Reject'];
const MAX_QUEUES = 10_000_000;
/** A flow's hand is dealt from one hash of this many bits. */
const MAX_ENTROPY_BITS = 60;
const POSITIVE = 'must be positive';
const NOT_NEGATIVE = 'must be a non-negative integer';
/** The versions in which shares have their first name. */
const ASSURED = ['v1alpha1', 'v1beta1', 'v1beta2'];

/** How many bits it takes to deal a hand of so many different queues out of all of them. */
export function requiredEntropyBits(queues: number, handSize: number): number {
  let hands = 1n;
  for (let dealt = 0; dealt < handSize; dealt++) hands *= BigInt(queues - dealt);
  return (hands - 1n).toString(2).length;
}

function validateHandSize(handSize: number, queues: number, field: string): readonly FieldError[] {
  if (handSize <= 0) return [invalid(field, handSize, POSITIVE)];
  if (handSize > queues) {
    return [invalid(field, handSize, `should not be greater than queues (${queues})`)];
  }
  const detail =
    `required entropy bits of deckSize ${queues} and handSize ${handSize} ` +
    `should not be greater than ${MAX_ENTROPY_BITS}`;
  // More cards than bits need no counting: each takes at least one, except the last.
  const isTooMuch = handSize > MAX_ENTROPY_BITS || requiredEntropyBits(queues, handSize) > MAX_ENTROPY_BITS;
  return isTooMuch ? [invalid(field, handSize, detail)] : [];
}

function validateQueuing(queuing: QueuingConfiguration, path: string): readonly FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  return [
    ...(queueLengthLimit <= 0 ? [invalid(`${path}.queueLengthLimit`, queueLengthLimit, POSITIVE)] : []),
    ...(queues <= 0 ? [invalid(`${path}.queues`, queues, POSITIVE)] : []),
    ...(queues > MAX_QUEUES ? [invalid(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`)] : []),
    ...validateHandSize(handSize, queues, `${path}.handSize`),
  ];
}

function validateLimitResponse({ type = '', queuing }: LimitResponse, path: string): readonly FieldError[] {
  switch (type) {
    case 'Reject':
      return queuing
        ? [forbiddenField(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
        : [];
    case 'Queue':
      return queuing
        ? validateQueuing(queuing, `${path}.queuing`)
        : [required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [notSupported(`${path}.type`, type, RESPONSES)];
  }
}

function validateLendable(percent: number | undefined, path: string): readonly FieldError[] {
  return percent !== undefined && (percent < 0 || percent > 100)
    ? [invalid(`${path}.lendablePercent`, percent, 'must be between 0 and 100, inclusive')]
    : [];
}

/** Zero has come this far only where it is meant. */
function validateShares(shares: number, path: string, requested: RequestedVersion | undefined): readonly FieldError[] {
  if (shares >= 0) return [];
  return requested === undefined || ASSURED.includes(requested.version)
    ? [invalid(`${path}.assuredConcurrencyShares`, shares, POSITIVE)]
    : [invalid(`${path}.nominalConcurrencyShares`, shares, NOT_NEGATIVE)];
}

function validateLimited(
  limited: LimitedPriorityLevelConfiguration,
  path: string,
  requested: RequestedVersion | undefined,
): readonly FieldError[] {
  const { assuredConcurrencyShares: shares = 0, limitResponse = {}, lendablePercent } = limited;
  const { borrowingLimitPercent: borrowing = 0 } = limited;
  return [
    ...validateShares(shares, path, requested),
    ...validateLimitResponse(limitResponse, `${path}.limitResponse`),
    ...validateLendable(lendablePercent, path),
    ...(borrowing < 0
      ? [invalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')]
      : []),
  ];
}

function validateExempt(
  { nominalConcurrencyShares: shares = 0, lendablePercent }: ExemptPriorityLevelConfiguration,
  path: string,
): readonly FieldError[] {
  return [
    ...(shares < 0 ? [invalid(`${path}.nominalConcurrencyShares`, shares, NOT_NEGATIVE)] : []),
    ...validateLendable(lendablePercent, path),
  ];
}

function validateSpec(
  { type = '', limited, exempt }: PriorityLevelConfigurationSpec,
  requested: RequestedVersion | undefined,
): readonly FieldError[] {
  switch (type) {
    case 'Exempt':
      return [
        ...(limited ? [forbiddenField('spec.limited', 'must be nil if the type is not Limited')] : []),
        ...(exempt ? validateExempt(exempt, 'spec.exempt') : []),
      ];
    case 'Limited':
      return [
        ...(exempt ? [forbiddenField('spec.exempt', 'must be nil if the type is not Exempt')] : []),
        ...(limited
          ? validateLimited(limited, 'spec.limited', requested)
          : [required('spec.limited', 'must not be empty when type is Limited')]),
      ];
    default:
      return [notSupported('spec.type', type, TYPES)];
  }
}

/** All problems of a priority level: also what an update checks. */
export function validatePriorityLevel(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as PriorityLevelConfigurationSpec;
  const { type = '' } = spec;
  const isExempt = object.metadata.name === EXEMPT_LEVEL;
  return [
    ...(isExempt === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]),
    ...validateSpec(spec, requested),
    ...validateFlowControlStatus(object),
  ];
}
