import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { RuleWithOperations } from '../schema/generated/admissionregistration-v1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { checkEach } from './check-each';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** A list that is not empty, in which a star stands alone. */
function validateList(list: readonly string[], field: string, type: string, what: string): readonly FieldError[] {
  const detail = `if '*' is present, must not specify other ${what}`;
  return [
    ...(list.length === 0 ? [required(field, '')] : []),
    ...(list.length > 1 && list.includes('*') ? [invalidLiteral(field, stringListLiteral(type, list), detail)] : []),
  ];
}

/** `pods/*` and `*` `/status` each cover what another entry may not name again. */
function validateOverlaps(resources: readonly string[], path: string): readonly FieldError[] {
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  return checkEach(resources, (entry, index) => {
    const field = `${path}[${index}]`;
    if (entry === '') return [required(field, '')];
    const slash = entry.indexOf('/');
    if (slash < 0) return [];
    const [resource, subresource] = [entry.slice(0, slash), entry.slice(slash + 1)];
    const errors = [
      ...(wholeResources.has(resource)
        ? [invalid(field, entry, `if '${resource}/*' is present, must not specify ${entry}`)]
        : []),
      ...(wholeSubresources.has(subresource)
        ? [invalid(field, entry, `if '*/${subresource}' is present, must not specify ${entry}`)]
        : []),
    ];
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
    return errors;
  });
}

function validateResources(resources: readonly string[], path: string): readonly FieldError[] {
  const literal = stringListLiteral('[]string', resources);
  const hasPlain = resources.some((entry) => entry !== '*' && entry !== '' && !entry.includes('/'));
  return [
    ...(resources.length === 0 ? [required(path, '')] : []),
    ...validateOverlaps(resources, path),
    ...(resources.length > 1 && resources.includes('*/*')
      ? [invalidLiteral(path, literal, "if '*/*' is present, must not specify other resources")]
      : []),
    ...(resources.includes('*') && hasPlain
      ? [invalidLiteral(path, literal, "if '*' is present, must not specify other resources without subresources")]
      : []),
  ];
}

/** Which requests a webhook is asked about. */
export function validateWebhookRule(rule: RuleWithOperations, path: string): readonly FieldError[] {
  const operations = rule.operations ?? [];
  const versions = rule.apiVersions ?? [];
  const scope = rule.scope ?? undefined;
  return [
    ...validateList(operations, `${path}.operations`, '[]admissionregistration.OperationType', 'operations'),
    ...checkEach(operations, (operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...validateList(rule.apiGroups ?? [], `${path}.apiGroups`, '[]string', 'API groups'),
    ...validateList(versions, `${path}.apiVersions`, '[]string', 'API versions'),
    ...checkEach(versions, (version, index) => (version === '' ? [required(`${path}.apiVersions[${index}]`, '')] : [])),
    ...validateResources(rule.resources ?? [], `${path}.resources`),
    ...(scope === undefined || SCOPES.includes(scope) ? [] : [notSupported(`${path}.scope`, scope, SCOPES)]),
  ];
}
