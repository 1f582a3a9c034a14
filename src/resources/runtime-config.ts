import { quoteGo } from '../api/errors/go-quote';
import type { GroupDefinition } from '../api/kinds/groups';
import { RETIRED_VERSIONS } from '../api/kinds/retired-kinds';
import { apiVersionOf } from '../api/object';

/** Whether a resource is served under a group version. */
export type IsServed = (group: string, version: string, resource: string) => boolean;

export interface RuntimeConfig {
  readonly isServed: IsServed;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

type Settings = Readonly<Record<string, string>>;

const ALPHA = /^v\d+alpha\d+$/;
/** Keys that stand for many versions, in the order in which they hold: what comes later refines what came before. */
const FAMILIES: Readonly<Record<string, RegExp>> = {
  'api/all': /^/,
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': ALPHA,
};
/** Served when it is named, and not for `api/all` or `api/alpha`: kube-apiserver 1.20 forgot it among the alpha versions. */
const BY_NAME_ONLY: readonly string[] = ['discovery.k8s.io/v1alpha1'];
/** The one group version whose resources can be switched one by one. */
const BY_RESOURCE = 'extensions/v1beta1';
/** Known like the retired ones, though nothing is served in them: what webhooks are sent and answer. */
const WEBHOOK_VERSIONS: readonly string[] = [
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'imagepolicy.k8s.io/v1alpha1',
];
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1beta1';

const TRUE: readonly string[] = ['', '1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Beta resources that came when such were no longer on by default (1.24), in a version that other resources have had before. */
const ON_DEMAND: readonly string[] = [
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies',
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicybindings',
];

/** Without settings: everything but alpha versions, and betas that have never been on. */
export const isServedByDefault: IsServed = (group, version, resource) =>
  !ALPHA.test(version) && !ON_DEMAND.includes(`${group}/${version}/${resource}`);

/** A key that names a group version, and maybe a resource of it. */
interface Key {
  readonly key: string;
  readonly group: string;
  /** `group/version`, also of the core group: `/v1`. */
  readonly groupVersion: string;
  /** Absent: all of the group version. */
  readonly resource: string | undefined;
  readonly value: string;
}

/** Undefined when it has not two or three parts. */
function splitKey(key: string, value: string): Key | undefined {
  const [group, version, resource, ...rest] = key.split('/');
  if (group === undefined || version === undefined || rest.length > 0) return undefined;
  return { key, group, groupVersion: `${group}/${version}`, resource, value };
}

/** What kube-apiserver knows by name, whether it serves something in it or not. */
function registeredVersions(groups: readonly GroupDefinition[]): ReadonlySet<string> {
  const own = groups.flatMap(({ name, versions }) => versions.map(({ version }) => `${name}/${version}`));
  return new Set([...own, ...RETIRED_VERSIONS, ...WEBHOOK_VERSIONS]);
}

function isFamily(key: string): boolean {
  return Object.hasOwn(FAMILIES, key);
}

/** What is wrong with the keys as such. */
function problemOfKeys(settings: Settings, registered: ReadonlySet<string>): string | undefined {
  if (settings['api/all'] === 'false' && Object.keys(settings).length === 1) {
    return 'invalid key with only api/all=false';
  }
  const keys = Object.keys(settings).filter((key) => !isFamily(key));
  const malformed = keys.find((key) => splitKey(key, '') === undefined);
  if (malformed !== undefined) return `runtime-config invalid key ${malformed}`;
  const known = new Set([...registered].map(groupOf));
  const unknown = keys.map(groupOf).filter((group) => !known.has(group));
  return unknown.length === 0 ? undefined : `unknown api groups ${unknown.join(',')}`;
}

function groupOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** What is wrong with one setting; its group is known. */
function problemOfSetting({ key, groupVersion, value }: Key, registered: ReadonlySet<string>): string | undefined {
  if (!registered.has(groupVersion)) {
    const [group = '', version = ''] = groupVersion.split('/');
    return `group version ${apiVersionOf(group, version)} that has not been registered`;
  }
  if (TRUE.includes(value) || FALSE.includes(value)) return undefined;
  return `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${quoteGo(value)}: invalid syntax`;
}

/** True for a key that names a resource where only whole versions can be switched. */
function isIgnored({ groupVersion, resource }: Key): boolean {
  return resource !== undefined && groupVersion !== BY_RESOURCE;
}

/**
 * `--runtime-config` read: `api/all`, `api/ga`, `api/beta`, `api/alpha`, each true or false, `group/version` and, for the
 * legacy group, `extensions/v1beta1/resource`, each true, false or empty, which means true. Rules and texts are those of
 * kube-apiserver, which stops at the first problem.
 */
export function parseRuntimeConfig(settings: Settings, groups: readonly GroupDefinition[]): RuntimeConfig {
  const registered = registeredVersions(groups);
  const refused = (problem: string): RuntimeConfig => ({
    isServed: isServedByDefault,
    problems: [problem],
    warnings: [],
  });
  const problem = problemOfKeys(settings, registered);
  if (problem !== undefined) return refused(problem);

  const families = Object.keys(FAMILIES).filter((key) => settings[key] !== undefined);
  const unclear = families.find((key) => settings[key] !== 'true' && settings[key] !== 'false');
  if (unclear !== undefined) return refused(`invalid value ${unclear}=${settings[unclear]}`);

  const keys = Object.entries(settings).flatMap(([key, value]) => (isFamily(key) ? [] : (splitKey(key, value) ?? [])));
  const counting = keys.filter((key) => !isIgnored(key));
  for (const key of counting) {
    const wrong = problemOfSetting(key, registered);
    if (wrong !== undefined) return refused(wrong);
  }
  const warnings = keys
    .filter(isIgnored)
    .map(
      ({ key, groupVersion }) =>
        `ignoring invalid key ${key}, individual resource enablement/disablement is not supported in ${groupVersion}, and will prevent starting in future releases`,
    );
  return {
    isServed: servedBy(new Map(families.map((key) => [key, settings[key] === 'true'])), counting),
    problems: [],
    warnings,
  };
}

function byFamily(families: ReadonlyMap<string, boolean>, group: string, version: string, resource: string): boolean {
  const family = [...families.keys()].findLast((key) => FAMILIES[key]?.test(version));
  const on = family === undefined ? undefined : families.get(family);
  if (on === true && BY_NAME_ONLY.includes(`${group}/${version}`)) return false;
  return on ?? isServedByDefault(group, version, resource);
}

/** What names a version or a resource decides before what stands for many. */
function servedBy(families: ReadonlyMap<string, boolean>, keys: readonly Key[]): IsServed {
  const versions = new Map<string, boolean>();
  const resources = new Map<string, boolean>();
  for (const { groupVersion, resource, value } of keys) {
    const on = TRUE.includes(value);
    // Switching a resource on takes its version along; switching it off leaves the others.
    if (resource === undefined || on) versions.set(groupVersion, on);
    if (resource !== undefined) resources.set(`${groupVersion}/${resource}`, on);
  }
  return (group, version, resource) => {
    const groupVersion = `${group}/${version}`;
    const isOn = versions.get(groupVersion) ?? byFamily(families, group, version, resource);
    return isOn && (resources.get(`${groupVersion}/${resource}`) ?? true);
  };
}

/** Priority and fairness needs its objects' version: the contradiction between the flags, if there is one. */
export function flowControlConflict(settings: Settings, priorityAndFairness: boolean): readonly string[] {
  if (!priorityAndFairness) return [];
  const deciding = [FLOW_CONTROL, 'api/beta', 'api/all'].find((key) => ['true', 'false'].includes(settings[key] ?? ''));
  if (deciding === undefined || settings[deciding] === 'true') return [];
  return [
    `--runtime-config=${deciding}=false conflicts with --enable-priority-and-fairness=true and --feature-gates=APIPriorityAndFairness=true`,
  ];
}
