import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../../schema/generated/core-v1';
import { validateDnsSubdomain, validateQualifiedName } from './field-rules';

/** Which nodes: of pods (affinity), and of persistent volumes. */

function validateValues({ operator, values = [] }: NodeSelectorRequirement, path: string): readonly FieldError[] {
  const field = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(field, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length > 0
        ? [forbiddenField(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    case 'Gt':
    case 'Lt':
      return values.length === 1
        ? []
        : [required(field, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator')];
  }
}

function validateLabelRequirement(requirement: NodeSelectorRequirement, path: string): readonly FieldError[] {
  return [...validateValues(requirement, path), ...validateQualifiedName(requirement.key ?? '', `${path}.key`)];
}

/** Of a node's fields only its name can be asked for. */
function validateFieldRequirement(
  { key = '', operator, values = [] }: NodeSelectorRequirement,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, detail));
  }
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')];
  return [...errors, ...checkEach(values, (value, index) => validateDnsSubdomain(value, `${path}.values[${index}]`))];
}

export function validateNodeSelectorTerm(
  { matchExpressions, matchFields }: NodeSelectorTerm,
  path: string,
): readonly FieldError[] {
  return [
    ...checkEach(matchExpressions, (requirement, index) =>
      validateLabelRequirement(requirement, `${path}.matchExpressions[${index}]`),
    ),
    ...checkEach(matchFields, (requirement, index) =>
      validateFieldRequirement(requirement, `${path}.matchFields[${index}]`),
    ),
  ];
}

export function validateNodeSelector({ nodeSelectorTerms }: NodeSelector, path: string): readonly FieldError[] {
  const field = `${path}.nodeSelectorTerms`;
  const terms = nodeSelectorTerms ?? [];
  if (terms.length === 0) return [required(field, 'must have at least one node selector term')];
  return checkEach(terms, (term, index) => validateNodeSelectorTerm(term, `${field}[${index}]`));
}
