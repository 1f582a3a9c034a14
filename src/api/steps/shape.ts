import type { MergeType } from '../apply/merge-type';
import type { ShapeFound } from '../apply/shape';
import type { JsonValue } from '../object';
import type { Steps } from './pace';

/** What is worked on in steps is too large to have a shape. */
// eslint-disable-next-line require-yield
export function* shapeOf(
  _type: MergeType,
  _before: JsonValue | undefined,
  _value: JsonValue,
): Steps<ShapeFound | undefined> {
  return undefined;
}
