import type { FieldError } from '../api/errors/field-error';
import type { MaybePromise } from '../api/maybe-promise';
import { atOnce, type Steps } from '../api/parts';
import { checkInParts } from '../api/validation/check-each';
import type { OperationContext } from './types';

type Paced = Pick<OperationContext, 'pace'>;

/** What comes of the steps: at once, or for a request with a large body in turns with others. */
export function takeAll<Result>(steps: Steps<Result>, { pace }: Paced): MaybePromise<Result> {
  return pace?.givesWay === true ? pace.takeSteps(steps) : atOnce(steps);
}

/** What rules find wrong, looked for a part at a time where the request has a large body. */
export function* problemsOf({ pace }: Paced, check: () => readonly FieldError[]): Steps<readonly FieldError[]> {
  return pace?.givesWay === true ? yield* checkInParts(check) : check();
}
