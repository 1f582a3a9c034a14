import type { GroupDefinition } from '../api/kinds/groups';
import { apiVersionOf } from '../api/object';

/** Whether a resource is served under a group version; absent settings leave what is served by default. */
export type IsServed = (group: string, version: string, resource: string) => boolean;

export interface RuntimeConfig {
  readonly isServed: IsServed;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Keys that stand for many versions, in the order in which they hold: what comes later refines what came before. */
const FAMILIES: readonly (readonly [key: string, versions: RegExp])[] = [
  ['api/all', /^/],
  ['api/ga', /^v\d+$/],
  ['api/beta', /^v\d+beta\d+$/],
  ['api/alpha', /^v\d+alpha\d+$/],
];
/** The one group version whose resources can be switched one by one. */
const BY_RESOURCE = 'extensions/v1beta1';
/** Of kube-apiserver 1.21, off by default; they are not served here. */
const ALPHA_VERSIONS: readonly string[] = [
  'batch/v2alpha1',
  'flowcontrol.apiserver.k8s.io/v1alpha1',
  'internal.apiserver.k8s.io/v1alpha1',
  'node.k8s.io/v1alpha1',
  'rbac.authorization.k8s.io/v1alpha1',
  'scheduling.k8s.io/v1alpha1',
  'storage.k8s.io/v1alpha1',
];
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1beta1';

const TRUE: readonly string[] = ['', '1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

interface Key {
  readonly key: string;
  readonly group: string;
  readonly version: string;
  /** Empty: all of the group version. */
  readonly resource: string;
  readonly value: string;
}

function splitKey([key, value]: readonly [string, string]): Key | undefined {
  const [group, version, resource = '', ...rest] = key.split('/');
  return group === undefined || version === undefined || rest.length > 0
    ? undefined
    : { key, group, version, resource, value };
}

function isFamily([key]: readonly [string, string]): boolean {
  return FAMILIES.some(([family]) => family === key);
}

/**
 * `--runtime-config` read: `api/all`, `api/ga`, `api/beta`, `api/alpha`, `group/version` and, for the legacy group,
 * `extensions/v1beta1/resource`, each true, false or without a value, which means true. Texts are kube-apiserver's.
 */
export function parseRuntimeConfig(
  given: Readonly<Record<string, string>>,
  groups: readonly GroupDefinition[],
): RuntimeConfig {
  const settings = Object.entries(given).filter(([key]) => key !== '');
  const keys = settings.filter((setting) => !isFamily(setting)).map((setting) => splitKey(setting) ?? setting[0]);
  const malformed = keys.filter((key) => typeof key === 'string');
  const wellFormed = keys.filter((key) => typeof key !== 'string');
  const families = settings.filter(isFamily);
  const warnings: string[] = [];
  const problems: string[] = malformed.map((key) => `runtime-config invalid key ${key}`);
  if (settings.length === 1 && given['api/all'] === 'false') problems.push('invalid key with only api/all=false');
  for (const [key, value] of families) {
    if (value !== 'true' && value !== 'false') problems.push(`invalid value ${key}=${value}`);
  }

  const known = new Set(groups.map(({ name }) => name));
  for (const version of ALPHA_VERSIONS) known.add(version.slice(0, version.indexOf('/')));
  const unknown = new Set(wellFormed.map(({ group }) => group).filter((group) => !known.has(group)));
  if (unknown.size > 0) problems.push(`unknown api groups ${[...unknown].join(',')}`);

  const registered = new Set(groups.flatMap(({ name, versions }) => versions.map((one) => `${name}/${one.version}`)));
  const byVersion = new Map<string, boolean>();
  const byResource = new Map<string, boolean>();
  for (const { key, group, version, resource, value } of wellFormed.filter((one) => known.has(one.group))) {
    const groupVersion = `${group}/${version}`;
    const on = TRUE.includes(value);
    if (resource !== '' && groupVersion !== BY_RESOURCE) {
      warnings.push(
        `ignoring invalid key ${key}, individual resource enablement/disablement is not supported in ${groupVersion}`,
      );
    } else if (!registered.has(groupVersion) && !ALPHA_VERSIONS.includes(groupVersion)) {
      problems.push(`group version ${apiVersionOf(group, version)} that has not been registered`);
    } else if (!on && !FALSE.includes(value)) {
      problems.push(
        `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
      );
    } else if (ALPHA_VERSIONS.includes(groupVersion)) {
      if (on) warnings.push(`runtime-config ${key}: ${groupVersion} is not served`);
    } else if (resource === '') {
      byVersion.set(groupVersion, on);
    } else {
      byResource.set(`${groupVersion}/${resource}`, on);
      // Switching a resource on takes its version along; switching it off leaves the others.
      if (on) byVersion.set(groupVersion, true);
    }
  }
  if (given['api/alpha'] === 'true') warnings.push('runtime-config api/alpha: no alpha version is served');

  return { isServed: servedBy(families, byVersion, byResource), problems, warnings };
}

function servedBy(
  families: readonly (readonly [string, string])[],
  byVersion: ReadonlyMap<string, boolean>,
  byResource: ReadonlyMap<string, boolean>,
): IsServed {
  const values = new Map(families);
  const inOrder = FAMILIES.filter(([key]) => values.has(key));
  return (group, version, resource) => {
    const family = inOrder.findLast(([, versions]) => versions.test(version));
    const byDefault = family === undefined || values.get(family[0]) === 'true';
    const groupVersion = `${group}/${version}`;
    return (byVersion.get(groupVersion) ?? byDefault) && (byResource.get(`${groupVersion}/${resource}`) ?? true);
  };
}

/** Priority and fairness needs its objects' version: the contradiction between the flags, if there is one. */
export function flowControlConflict(
  given: Readonly<Record<string, string>>,
  priorityAndFairness: boolean,
): readonly string[] {
  if (!priorityAndFairness) return [];
  const deciding = [FLOW_CONTROL, 'api/beta', 'api/all'].find((key) => ['true', 'false'].includes(given[key] ?? ''));
  if (deciding === undefined || given[deciding] === 'true') return [];
  return [
    `--runtime-config=${deciding}=false conflicts with --enable-priority-and-fairness=true and --feature-gates=APIPriorityAndFairness=true`,
  ];
}
