import { duplicate, invalid, required, type FieldError } from '../../errors/field-error';
import type { TopologySpreadConstraint } from '../../schema/generated/core-v1';
import { validateOneOf } from './field-rules';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

/** At most one constraint for a topology and what is done when it cannot be met. */
function validateRepetition(
  { topologyKey, whenUnsatisfiable }: TopologySpreadConstraint,
  following: readonly TopologySpreadConstraint[],
  path: string,
): readonly FieldError[] {
  const repeated = following.some(
    (other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable,
  );
  return repeated
    ? [duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey ?? ''}, ${whenUnsatisfiable ?? ''}}`)]
    : [];
}

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
): readonly FieldError[] {
  return (constraints ?? []).flatMap((constraint, index, all) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' } = constraint;
    const field = `${path}[${index}]`;
    return [
      ...(maxSkew > 0 ? [] : [invalid(`${field}.maxSkew`, maxSkew, 'must be greater than zero')]),
      ...(topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
      ...validateOneOf(whenUnsatisfiable, ACTIONS, `${field}.whenUnsatisfiable`),
      ...validateRepetition(constraint, all.slice(index + 1), field),
    ];
  });
}
