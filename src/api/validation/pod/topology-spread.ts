import { duplicate, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { TopologySpreadConstraint } from '../../schema/generated/core-v1';
import { validateOneOf } from './field-rules';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

/** At most one constraint for a topology and what is done when it cannot be met. */
function validateRepetition(
  { topologyKey, whenUnsatisfiable }: TopologySpreadConstraint,
  comesAgain: boolean,
  path: string,
): readonly FieldError[] {
  return comesAgain
    ? [duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey ?? ''}, ${whenUnsatisfiable ?? ''}}`)]
    : [];
}

function identityOf({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return JSON.stringify([topologyKey, whenUnsatisfiable]);
}

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
): readonly FieldError[] {
  const list = constraints ?? [];
  // Of those that are alike all but the last are blamed.
  const last = new Map(list.map((constraint, index) => [identityOf(constraint), index]));
  return checkEach(list, (constraint, index) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' } = constraint;
    const field = `${path}[${index}]`;
    return [
      ...(maxSkew > 0 ? [] : [invalid(`${field}.maxSkew`, maxSkew, 'must be greater than zero')]),
      ...(topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
      ...validateOneOf(whenUnsatisfiable, ACTIONS, `${field}.whenUnsatisfiable`),
      ...validateRepetition(constraint, last.get(identityOf(constraint)) !== index, field),
    ];
  });
}
