import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import { checkAfter, checkEach } from '../check-each';
import { keysOf } from '../../parts';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../quantity/quantity';
import type { ResourceRequirements } from '../../schema/generated/core-v1';
import { invalidLiteral } from '../go-literal';
import { NON_NEGATIVE_PROBLEM } from '../numbers';
import { quantityLiteral } from './quantity-literal';
import {
  isHugePageResource,
  isIntegerResource,
  isOvercommitAllowed,
  validateContainerResourceName,
} from './resource-names';

const WHOLE = 1_000_000_000n;
const COMPUTE = ['cpu', 'memory'];

/** A quantity that is not negative, and whole where the resource comes in pieces. */
export function validateResourceQuantity(name: string, text: string, field: string): readonly FieldError[] {
  const quantity = parseQuantity(text);
  return [
    ...(quantity.nanos < 0n ? [invalid(field, formatQuantity(quantity), NON_NEGATIVE_PROBLEM)] : []),
    ...(isIntegerResource(name) && quantity.nanos % WHOLE !== 0n
      ? [invalidLiteral(field, quantityLiteral(text), 'must be an integer')]
      : []),
  ];
}

function validateAmount(name: string, text: string, path: string): readonly FieldError[] {
  const field = `${path}[${name}]`;
  return [...validateContainerResourceName(name, field), ...validateResourceQuantity(name, text, field)];
}

/** A request against its limit: resources that cannot be overcommitted are requested exactly as limited. */
function validateAgainstLimit(
  name: string,
  request: Quantity,
  limit: Quantity | undefined,
  path: string,
): readonly FieldError[] {
  if (limit === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const order = compareQuantities(request, limit);
  if (order !== 0 && !isOvercommitAllowed(name)) {
    return [invalid(`${path}.requests`, formatQuantity(request), `must be equal to ${name} limit`)];
  }
  return order > 0
    ? [invalid(`${path}.requests`, formatQuantity(request), `must be less than or equal to ${name} limit`)]
    : [];
}

/** Limits and requests of a container; also the overhead of a pod, which counts as limits. */
export function validateResourceRequirements(
  requirements: ResourceRequirements | undefined,
  path: string,
): readonly FieldError[] {
  const limits = requirements?.limits ?? {};
  const requests = requirements?.requests ?? {};
  const [limited, requested] = [keysOf(limits), keysOf(requests)];
  if (limited.length + requested.length === 0) return [];
  let needsCompute = false;
  let hasCompute = false;
  const note = (name: string): void => {
    needsCompute ||= isHugePageResource(name);
    hasCompute ||= COMPUTE.includes(name);
  };
  const quantityOf = (text: string | undefined): Quantity | undefined =>
    text === undefined ? undefined : parseQuantity(text);
  return [
    ...checkEach(limited, (name) => {
      note(name);
      return validateAmount(name, limits[name] as string, `${path}.limits`);
    }),
    ...checkEach(requested, (name) => {
      note(name);
      const text = requests[name] as string;
      const limit = quantityOf(Object.hasOwn(limits, name) ? limits[name] : undefined);
      return [
        ...validateAmount(name, text, `${path}.requests`),
        ...validateAgainstLimit(name, parseQuantity(text), limit, path),
      ];
    }),
    ...checkAfter(() => (needsCompute && !hasCompute ? [forbiddenField(path, 'HugePages require cpu or memory')] : [])),
  ];
}
