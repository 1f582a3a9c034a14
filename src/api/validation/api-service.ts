import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { base64Bytes } from './config-keys';
import type { KubeObject } from '../object';
import type { APIServiceSpec, APIServiceStatus } from '../schema/generated/apiregistration-v1';
import { dns1035LabelProblems, dns1123SubdomainProblems, pathSegmentName } from './names';
import { portNumberProblems } from './ports';
import { checkEach } from './check-each';

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const DEFAULT_PORT = 443;
const CONDITION_STATUSES = ['True', 'False', 'Unknown'];

/** Only the first of several problems is reported. */
function firstProblem(field: string, value: string, problems: readonly string[]): readonly FieldError[] {
  return problems.slice(0, 1).map((problem) => invalid(field, value, problem));
}

function validatePriority(value: number, limit: number, field: string): readonly FieldError[] {
  return value > 0 && value <= limit ? [] : [invalid(field, value, `must be positive and less than ${limit}`)];
}

/** A group version that the server serves itself. */
function validateLocal({ caBundle, insecureSkipTLSVerify }: APIServiceSpec): readonly FieldError[] {
  const bytes = base64Bytes(caBundle ?? '');
  return [
    ...(bytes > 0 ? [invalid('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle')] : []),
    ...(insecureSkipTLSVerify === true
      ? [invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')]
      : []),
  ];
}

function validateBackend(spec: APIServiceSpec): readonly FieldError[] {
  const { service, caBundle = '', insecureSkipTLSVerify } = spec;
  if (!service) return validateLocal(spec);
  const port = service.port ?? DEFAULT_PORT;
  const problems = portNumberProblems(port);
  return [
    ...((service.namespace ?? '') === '' ? [required('spec.service.namespace', '')] : []),
    ...((service.name ?? '') === '' ? [required('spec.service.name', '')] : []),
    ...(problems.length > 0 ? [invalid('spec.service.port', port, `port is not valid: ${problems.join(',')}`)] : []),
    ...(insecureSkipTLSVerify === true && (caBundle ?? '') !== ''
      ? [invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')]
      : []),
  ];
}

/** All problems of an APIService: its name says which group version it is about. */
export function validateApiService(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as APIServiceSpec;
  const { group = '', version = '' } = spec;
  const wanted = `${version}.${group}`;
  return [
    ...(['generateName', 'name'] as const).flatMap((field) => {
      const name = object.metadata[field] ?? '';
      return name === '' || name === wanted || pathSegmentName(name, false).length > 0
        ? []
        : [invalid(`metadata.${field}`, name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`)];
    }),
    ...(group === '' && version !== 'v1'
      ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : firstProblem('spec.group', group, dns1123SubdomainProblems(group))),
    ...firstProblem('spec.version', version, dns1035LabelProblems(version)),
    ...validatePriority(spec.groupPriorityMinimum ?? 0, MAX_GROUP_PRIORITY, 'spec.groupPriorityMinimum'),
    ...validatePriority(spec.versionPriority ?? 0, MAX_VERSION_PRIORITY, 'spec.versionPriority'),
    ...validateBackend(spec),
  ];
}

export function validateApiServiceStatusUpdate(object: KubeObject): readonly FieldError[] {
  const { conditions } = (object['status'] ?? {}) as APIServiceStatus;
  return checkEach(conditions, ({ status = '' }, index) =>
    CONDITION_STATUSES.includes(status)
      ? []
      : [notSupported(`status.conditions[${index}].status`, status, CONDITION_STATUSES)],
  );
}
