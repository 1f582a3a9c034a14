import type { FieldError } from '../api/errors/field-error';
import type { Strategy } from '../api/kinds/kind-definition';
import type { MaybePromise } from '../api/maybe-promise';
import { filledInParts } from '../api/fill-later';
import type { KubeObject } from '../api/object';
import { atOnce, type Steps } from '../api/parts';
import { checkInParts, checkInPartsIfLong } from '../api/validation/check-each';
import type { OperationContext } from './types';

type Paced = Pick<OperationContext, 'pace' | 'requested'>;

/** What comes of the steps: at once, or for a request with a large body in turns with others. */
export function takeAll<Result>(steps: Steps<Result>, { pace }: Paced): MaybePromise<Result> {
  return pace?.givesWay === true ? pace.takeSteps(steps) : atOnce(steps);
}

/** So many steps of a request with a small body are taken before others have their turn. */
const STEPS_AT_ONCE = 8;

/** As {@link takeAll}, for steps that may be many though the object is small: rules that a user has written. */
export function takeFewOrAll<Result>(steps: Steps<Result>, { pace }: Paced): MaybePromise<Result> {
  if (pace === undefined) return atOnce(steps);
  if (pace.givesWay) return pace.takeSteps(steps);
  for (let taken = 0; taken < STEPS_AT_ONCE; taken += 1) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
  return pace.takeSteps(steps);
}

/** What a strategy prepares, the long lists of a large object a part at a time. */
export function* prepareInParts({ pace }: Paced, prepare: () => KubeObject): Steps<KubeObject> {
  return pace?.givesWay === true ? yield* filledInParts(prepare) : prepare();
}

/** What rules in CEL add to what is wrong already. */
export function* withRules(
  errors: readonly FieldError[],
  rules: Steps<readonly FieldError[]> | undefined,
  { tellsOfUncheckedRules = false }: Pick<Strategy, 'tellsOfUncheckedRules'>,
): Steps<readonly FieldError[]> {
  if (rules === undefined) return errors;
  if (errors.some(isBlocking)) return tellsOfUncheckedRules ? [...errors, NOT_CHECKED] : errors;
  const more = yield* rules;
  return more.length === 0 ? errors : [...errors, ...more];
}

/** A value with such a problem may not be what its type says. */
const BLOCKING: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function isBlocking({ reason, message }: FieldError): boolean {
  return BLOCKING.has(reason) || / in body (must be of type|should (be|have) at most) /.test(message);
}

const NOT_CHECKED: FieldError = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing ' +
    'errors to complete validation',
};

/**
 * What rules find wrong, looked for a part at a time where the request has a large body, any of the rules may take long, or one does.
 */
export function* problemsOf(
  { pace, requested }: Paced,
  { validatesInParts }: Pick<Strategy, 'validatesInParts'>,
  check: () => readonly FieldError[],
): Steps<readonly FieldError[]> {
  const inParts = pace?.givesWay === true || validatesInParts?.(requested) === true;
  return yield* inParts ? checkInParts(check) : checkInPartsIfLong(check);
}
