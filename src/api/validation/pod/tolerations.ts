import { forbiddenField, invalid, type FieldError } from '../../errors/field-error';
import { checkEach, checkThen } from '../check-each';
import type { Toleration } from '../../schema/generated/core-v1';
import { invalidLiteral } from '../go-literal';
import { labelValueProblems } from '../label-syntax';
import { validateOneOf, validateQualifiedName } from './field-rules';
import { contentKey } from '../repetitions';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];
const NOTHING: readonly FieldError[] = [];

/** `core.Toleration{Key:"a", ...}`, as messages show one. */
export function tolerationLiteral({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  const quote = (text: string | undefined): string => JSON.stringify(text ?? '');
  const seconds = tolerationSeconds === undefined ? '(*int64)(nil)' : `(*int64)(${tolerationSeconds})`;
  const fields = `Key:${quote(key)}, Operator:${quote(operator)}, Value:${quote(value)}, Effect:${quote(effect)}`;
  return `core.Toleration{${fields}, TolerationSeconds:${seconds}}`;
}

/** The operator decides what the value may be; the wire blames the operator for it. */
function validateOperator(toleration: Toleration, field: string): readonly FieldError[] {
  const { operator = '', value = '' } = toleration;
  if (operator === 'Exists') {
    return value === ''
      ? []
      : [invalidLiteral(field, tolerationLiteral(toleration), "value must be empty when `operator` is 'Exists'")];
  }
  if (operator !== '' && operator !== 'Equal') return validateOneOf(operator, OPERATORS, field);
  const problems = labelValueProblems(value);
  return problems.length === 0 ? [] : [invalid(field, value, problems.join(';'))];
}

export function validateTolerations(
  tolerations: readonly Toleration[] | undefined,
  path: string,
): readonly FieldError[] {
  return checkEach(tolerations, (toleration, index) => {
    const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
    const field = `${path}[${index}]`;
    const everything = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    return [
      ...(key === '' ? [] : validateQualifiedName(key, `${field}.key`)),
      ...(key === '' && operator !== 'Exists' ? [invalid(`${field}.operator`, operator, everything)] : []),
      ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? [invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...validateOperator(toleration, `${field}.operator`),
      ...(effect === '' ? [] : validateOneOf(effect, EFFECTS, `${field}.effect`)),
    ];
  });
}

/** A running pod may come to tolerate more, and for another time, but not less. */
export function validateAddedTolerations(
  tolerations: readonly Toleration[] | undefined,
  old: readonly Toleration[] | undefined,
  path: string,
): readonly FieldError[] {
  const withoutSeconds = ({ tolerationSeconds: _seconds, ...rest }: Toleration): Toleration => rest;
  const keyOf = (toleration: Toleration): string => contentKey(withoutSeconds(toleration));
  const now = new Set<string>();
  let isKept = true;
  const compare = (): readonly FieldError[] => [
    ...checkEach(tolerations, (toleration) => {
      now.add(keyOf(toleration));
      return NOTHING;
    }),
    ...checkEach(old, (toleration) => {
      isKept &&= now.has(keyOf(toleration));
      return NOTHING;
    }),
  ];
  return checkThen(compare, () =>
    isKept
      ? validateTolerations(tolerations, path)
      : [forbiddenField(path, 'existing toleration can not be modified except its tolerationSeconds')],
  );
}
