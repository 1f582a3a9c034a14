import { duplicate, forbiddenField, invalid, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity/quantity';
import { keysOf } from '../parts';
import type { LimitRangeItem, LimitRangeSpec } from '../schema/generated/core-v1';
import { invalidLiteral } from './go-literal';
import { validateQualifiedName } from './pod/field-rules';
import { quantityLiteral } from './pod/quantity-literal';
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from './pod/resource-names';
import { checkEach } from './check-each';

const STANDARD_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
const CLAIM = 'PersistentVolumeClaim';

type Amounts = Readonly<Record<string, string>>;

/** One amount of a limit: how it was written, and what it means. */
interface Amount {
  readonly text: string;
  readonly quantity: Quantity;
}

function amount(amounts: Amounts | undefined, name: string): Amount | undefined {
  const text = amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined;
  return text === undefined ? undefined : { text, quantity: parseQuantity(text) };
}

function isMore(left: Amount | undefined, right: Amount | undefined): boolean {
  return left !== undefined && right !== undefined && compareQuantities(left.quantity, right.quantity) > 0;
}

function validateType(type: string, path: string): readonly FieldError[] {
  const errors = validateQualifiedName(type, path);
  if (errors.length > 0 || type.includes('/') || STANDARD_TYPES.includes(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

function validateName(type: string, name: string, field: string): readonly FieldError[] {
  return type === 'Pod' || type === 'Container'
    ? validateContainerResourceName(name, field)
    : validateResourceName(name, field);
}

function printed({ quantity }: Amount): string {
  return formatQuantity(quantity);
}

/** `min value 2 is greater than max value 1`, at the field of the amount that is named first. */
function excess(
  field: string,
  at: Amount,
  [lowName, low]: readonly [string, Amount],
  [highName, high]: readonly [string, Amount],
): FieldError {
  const detail = `${lowName} value ${printed(low)} is greater than ${highName} value ${printed(high)}`;
  return invalidLiteral(field, quantityLiteral(at.text), detail);
}

/** The amounts of one resource must not contradict each other: min, defaultRequest, default, max. */
function validateOrder(item: LimitRangeItem, name: string, path: string): readonly FieldError[] {
  const max = amount(item.max, name);
  const min = amount(item.min, name);
  const usual = amount(item.default, name);
  const request = amount(item.defaultRequest, name);
  const ratio = amount(item.maxLimitRequestRatio, name);
  const errors: FieldError[] = [];
  const at = (field: string): string => `${path}.${field}[${name}]`;
  if (min && max && isMore(min, max)) errors.push(excess(at('min'), min, ['min', min], ['max', max]));
  if (request && min && isMore(min, request)) {
    errors.push(excess(at('defaultRequest'), request, ['min', min], ['default request', request]));
  }
  if (request && max && isMore(request, max)) {
    errors.push(excess(at('defaultRequest'), request, ['default request', request], ['max', max]));
  }
  if (request && usual && isMore(request, usual)) {
    errors.push(excess(at('defaultRequest'), request, ['default request', request], ['default limit', usual]));
  }
  if (usual && min && isMore(min, usual)) {
    errors.push(excess(at('default'), min, ['min', min], ['default', usual]));
  }
  if (usual && max && isMore(usual, max)) {
    errors.push(excess(at('default'), max, ['default', usual], ['max', max]));
  }
  if (ratio) errors.push(...validateRatio(ratio, min, max, at('maxLimitRequestRatio')));
  // What cannot be overcommitted is requested exactly as limited.
  if (!isOvercommitAllowed(name) && usual && request && compareQuantities(usual.quantity, request.quantity) !== 0) {
    errors.push(
      invalidLiteral(
        at('defaultRequest'),
        quantityLiteral(request.text),
        `default value ${printed(usual)} must equal to defaultRequest value ${printed(request)} in ${name}`,
      ),
    );
  }
  return errors;
}

const ONE = parseQuantity('1');

function validateRatio(
  ratio: Amount,
  min: Amount | undefined,
  max: Amount | undefined,
  field: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (compareQuantities(ratio.quantity, ONE) < 0) {
    errors.push(invalidLiteral(field, quantityLiteral(ratio.text), `ratio ${printed(ratio)} is less than 1`));
  }
  if (min && max) {
    const possible = Number(max.quantity.nanos) / Number(min.quantity.nanos);
    if (Number(ratio.quantity.nanos) / 1e9 > possible) {
      errors.push(
        invalidLiteral(
          field,
          quantityLiteral(ratio.text),
          `ratio ${printed(ratio)} is greater than max/min = ${possible.toFixed(6)}`,
        ),
      );
    }
  }
  return errors;
}

const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

function validateNames(item: LimitRangeItem, type: string, path: string): readonly FieldError[] {
  const ofPods = type === 'Pod';
  return LISTS.flatMap((list) => {
    const names = keysOf(item[list] ?? {});
    // A whole pod has no defaults: they are its containers'.
    if (ofPods && (list === 'default' || list === 'defaultRequest')) {
      return names.length > 0
        ? [forbiddenField(`${path}.${list}`, `may not be specified when \`type\` is '${type}'`)]
        : [];
    }
    return checkEach(names, (name) => validateName(type, name, `${path}.${list}[${name}]`));
  });
}

/** Each name once, where it stands first. */
function validateOrders(item: LimitRangeItem, path: string): readonly FieldError[] {
  return LISTS.flatMap((list, index) => {
    const before = LISTS.slice(0, index).map((other) => item[other] ?? {});
    return checkEach(keysOf(item[list] ?? {}), (name) =>
      before.some((other) => Object.hasOwn(other, name)) ? [] : validateOrder(item, name, path),
    );
  });
}

function validateItem(item: LimitRangeItem, seen: Set<string>, path: string): readonly FieldError[] {
  const type = item.type ?? '';
  const isTaken = seen.size === seen.add(type).size;
  const lacksStorage =
    type === CLAIM && amount(item.min, 'storage') === undefined && amount(item.max, 'storage') === undefined;
  const missing = 'either minimum or maximum storage value is required, but neither was provided';
  return [
    ...validateType(type, `${path}.type`),
    ...(isTaken ? [duplicate(`${path}.type`, type)] : []),
    ...validateNames(item, type, path),
    ...(lacksStorage ? [required(`${path}.limits`, missing)] : []),
    ...validateOrders(item, path),
  ];
}

/** All problems of a limit range's items. */
export function validateLimitRange(object: KubeObject): readonly FieldError[] {
  const { limits } = (object['spec'] ?? {}) as LimitRangeSpec;
  const seen = new Set<string>();
  return checkEach(limits, (item, index) => validateItem(item, seen, `spec.limits[${index}]`));
}
