import { duplicate, invalid, required, tooMany, type FieldError } from '../errors/field-error';
import type { MatchCondition } from '../schema/generated/admissionregistration-v1';
import { checkEach } from './check-each';
import { qualifiedNameProblems } from './label-syntax';
import { repetitionsInOrder } from './repetitions';

const MAX_MATCH_CONDITIONS = 64;

/** Everything about the conditions of webhooks and policies but whether their expressions can be compiled. */
export function validateMatchConditions(conditions: readonly MatchCondition[], path: string): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  const count = conditions.length;
  return [
    ...(count > MAX_MATCH_CONDITIONS ? [tooMany(path, count, MAX_MATCH_CONDITIONS)] : []),
    ...checkEach(conditions, ({ name = '', expression = '' }, index) => [
      ...(expression.trim() === '' ? [required(`${path}[${index}].expression`, '')] : []),
      ...(name === ''
        ? [required(`${path}[${index}].name`, '')]
        : qualifiedNameProblems(name).map((problem) => invalid(`${path}[${index}].name`, name, problem))),
      ...(name !== '' && isRepeated(name) ? [duplicate(`${path}[${index}].name`, name)] : []),
    ]),
  ];
}
