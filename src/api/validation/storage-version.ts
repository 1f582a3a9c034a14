import { invalid, required, type FieldError } from '../errors/field-error';
import { isPlainMap } from '../kinds/field-values';
import type { KubeObject } from '../object';
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../schema/generated/apiserverinternal-v1alpha1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { qualifiedNameProblems } from './label-syntax';
import { DNS_1035_LABEL, dns1035LabelProblems, dns1123SubdomainProblems } from './names';
import { EMPTY_PROBLEM, patternProblem } from './syntax-error';
import { checkEach } from './check-each';

const API_VERSION_PROBLEM = `an apiVersion is ${patternProblem(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  'my-name',
  'abc-123',
)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`;

/** The rule for names, `<group>.<resource>`: problems' texts. */
export function storageVersionName(name: string): readonly string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123SubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

function partProblems(part: string, problems: (value: string) => readonly string[], name: string): readonly string[] {
  return (part === '' ? [EMPTY_PROBLEM] : problems(part)).map((problem) => `${name} part: ${problem}`);
}

function apiVersionProblems(apiVersion: string): readonly string[] {
  const parts = apiVersion.split('/', 3);
  const version = parts.pop() ?? '';
  const [group] = parts;
  if (parts.length > 1) return [API_VERSION_PROBLEM];
  return [
    ...(group === undefined ? [] : partProblems(group, dns1123SubdomainProblems, 'group')),
    ...partProblems(version, dns1035LabelProblems, 'version'),
  ];
}

/** All problems of a version are one. */
function validateApiVersion(apiVersion: string, field: string): readonly FieldError[] {
  const problems = apiVersionProblems(apiVersion);
  return problems.length === 0 ? [] : [invalid(field, apiVersion, problems.join(','))];
}

function validateServer(server: ServerStorageVersion, path: string): readonly FieldError[] {
  const { apiServerID = '', encodingVersion = '' } = server;
  const decodable = server.decodableVersions ?? [];
  const readable = new Set(decodable);
  const list = decodable.join(' ');
  const missing = `decodableVersions must include encodingVersion ${encodingVersion}`;
  return [
    ...dns1123SubdomainProblems(apiServerID).map((problem) => invalid(`${path}.apiServerID`, apiServerID, problem)),
    ...validateApiVersion(encodingVersion, `${path}.encodingVersion`),
    ...checkEach(decodable, (version, index) => validateApiVersion(version, `${path}.decodableVersions[${index}]`)),
    ...(readable.has(encodingVersion)
      ? []
      : [invalidLiteral(`${path}.decodableVersions`, stringListLiteral('[]string', decodable), missing)]),
    ...checkEach(server.servedVersions, (version, index) => {
      const field = `${path}.servedVersions[${index}]`;
      const unreadable = `individual served version : ${version} must be included in decodableVersions : [${list}]`;
      return [
        ...validateApiVersion(version, field),
        ...(readable.has(version) ? [] : [invalid(field, version, unreadable)]),
      ];
    }),
  ];
}

/** The version in which all servers store; undefined when they differ or there are none. */
function commonVersion(servers: readonly ServerStorageVersion[]): string | undefined {
  const [first, ...others] = servers.map(({ encodingVersion = '' }) => encodingVersion);
  return others.every((version) => version === first) ? first : undefined;
}

function validateCommonVersion(status: StorageVersionStatus): readonly FieldError[] {
  const field = 'status.commonEncodingVersion';
  const said = status.commonEncodingVersion;
  const actual = commonVersion(status.storageVersions ?? []);
  if (said === actual) return [];
  if (actual === undefined) {
    const detail =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
    return [invalid(field, said, detail)];
  }
  return said === undefined
    ? [invalidLiteral(field, '"null"', `the common encoding version is ${actual}`)]
    : [invalid(field, said, `the actual common encoding version is ${actual}`)];
}

/** The wire's path has no `.conditions`, and of a bad status it shows the type. */
function validateCondition(
  { type = '', status = '', reason = '', message = '' }: StorageVersionCondition,
  index: number,
  /** The last that has the same type; undefined: there is none. */
  earlier: number | undefined,
): readonly FieldError[] {
  const path = `status[${index}]`;
  const repeated = `the type of the condition is not unique, it also appears in conditions[${earlier}]`;
  return [
    ...(earlier === undefined ? [] : [invalid(`${path}.type`, type, repeated)]),
    ...qualifiedNameProblems(type).map((problem) => invalid(`${path}.type`, type, problem)),
    ...qualifiedNameProblems(status).map((problem) => invalid(`${path}.status`, type, problem)),
    ...(reason === '' ? [required(`${path}.reason`, 'reason cannot be empty')] : []),
    ...(message === '' ? [required(`${path}.message`, 'message cannot be empty')] : []),
  ];
}

/** All problems of what servers report. */
export function validateStorageVersionStatus(object: KubeObject): readonly FieldError[] {
  const status: StorageVersionStatus = isPlainMap(object['status']) ? object['status'] : {};
  const places = new Map<string, number>();
  return [
    ...checkEach(status.storageVersions, (server, index) => validateServer(server, `status.storageVersions[${index}]`)),
    ...validateCommonVersion(status),
    ...checkEach(status.conditions, (condition, index) => {
      const { type = '' } = condition;
      const earlier = places.get(type);
      places.set(type, index);
      return validateCondition(condition, index, earlier);
    }),
  ];
}
