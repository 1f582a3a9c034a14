import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type {
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

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: string): readonly FieldError[] {
  const { assuredConcurrencyShares: shares = 0, limitResponse = {} } = limited;
  return [
    ...(shares <= 0 ? [invalid(`${path}.assuredConcurrencyShares`, shares, POSITIVE)] : []),
    ...validateLimitResponse(limitResponse, `${path}.limitResponse`),
  ];
}

function validateSpec({ type = '', limited }: PriorityLevelConfigurationSpec): readonly FieldError[] {
  switch (type) {
    case 'Exempt':
      return limited ? [forbiddenField('spec.limited', 'must be nil if the type is not Limited')] : [];
    case 'Limited':
      return limited
        ? validateLimited(limited, 'spec.limited')
        : [required('spec.limited', 'must not be empty when type is Limited')];
    default:
      return [notSupported('spec.type', type, TYPES)];
  }
}

/** All problems of a priority level: also what an update checks. */
export function validatePriorityLevel(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as PriorityLevelConfigurationSpec;
  const { type = '' } = spec;
  const isExempt = object.metadata.name === EXEMPT_LEVEL;
  return [
    ...(isExempt === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]),
    ...validateSpec(spec),
    ...validateFlowControlStatus(object),
  ];
}
