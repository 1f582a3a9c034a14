import { invalid, type FieldError } from '../api/errors/field-error';
import { invalidObject } from '../api/errors/status-error';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { keysOf } from '../api/parts';
import { eachInTurns } from '../async/each-in-turns';
import { Turn } from '../async/turn';
import { allContainers, podSpec } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';
import { LEVELS, violationsOf, type Level } from './pod-security-standards';

const MODES = ['enforce', 'audit', 'warn'] as const;
type Mode = (typeof MODES)[number];

/** A level and the release whose reading of it holds; only the text of messages depends on the latter. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: string;
}

export type SecurityPolicy = { readonly [M in Mode]: LevelVersion };

/** The plugin's configuration: what holds without labels, and for whom nothing holds. */
export interface PodSecurityConfiguration {
  readonly defaults: SecurityPolicy;
  readonly exempt: {
    readonly users: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
  };
}

/** What the plugin reads. */
export interface PodSecurityDependencies {
  readonly getNamespace: (name: string) => MaybePromise<KubeObject | undefined>;
  readonly listPods: (namespace: string) => Iterable<MaybePromise<KubeObject>>;
}

const PREFIX = 'pod-security.kubernetes.io/';
const SECCOMP_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/';
const VERSION = /^(latest|v1\.(0|[1-9][0-9]*))$/;
/** A namespace with more pods than this is warned about from a sample. */
const MAX_CHECKED_PODS = 3000;

/** Where the kinds that make pods have their template. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  podtemplates: ['template'],
  replicationcontrollers: ['spec', 'template'],
  'replicasets.apps': ['spec', 'template'],
  'deployments.apps': ['spec', 'template'],
  'statefulsets.apps': ['spec', 'template'],
  'daemonsets.apps': ['spec', 'template'],
  'jobs.batch': ['spec', 'template'],
  'cronjobs.batch': ['spec', 'jobTemplate', 'spec', 'template'],
};

function isLevel(text: string): text is Level {
  return (LEVELS as readonly string[]).includes(text);
}

/** Reads the plugin's configuration; absent: everything is allowed without labels. Throws what is wrong with it. */
export function parsePodSecurity(configuration: unknown): PodSecurityConfiguration {
  const { defaults = {}, exemptions = {} } = (configuration ?? {}) as {
    readonly defaults?: Readonly<Record<string, string>>;
    readonly exemptions?: Readonly<Record<string, readonly string[]>>;
  };
  const of = (mode: Mode): LevelVersion => {
    const level = defaults[mode] || 'privileged';
    const version = defaults[`${mode}-version`] || 'latest';
    if (!isLevel(level)) throw new Error(`defaults.${mode}: must be one of ${LEVELS.join(', ')}`);
    if (!VERSION.test(version)) throw new Error(`defaults.${mode}-version: must be "latest" or "v1.x"`);
    return { level, version };
  };
  return {
    defaults: { enforce: of('enforce'), audit: of('audit'), warn: of('warn') },
    exempt: {
      users: new Set(exemptions.usernames),
      namespaces: new Set(exemptions.namespaces),
      runtimeClasses: new Set(exemptions.runtimeClasses),
    },
  };
}

/** A namespace's policy, and what is wrong with its labels; a label that is wrong means `restricted`. */
function policyOf(
  labels: Readonly<Record<string, string>> = {},
  defaults: SecurityPolicy,
): { readonly policy: SecurityPolicy; readonly problems: readonly FieldError[] } {
  const problems: FieldError[] = [];
  const of = (mode: Mode): LevelVersion => {
    const level = labels[PREFIX + mode];
    const version = labels[`${PREFIX}${mode}-version`];
    const field = (name: string): string => `metadata.labels[${PREFIX}${name}]`;
    if (level !== undefined && !isLevel(level)) {
      problems.push(invalid(field(mode), level, `must be one of ${LEVELS.join(', ')}`));
    }
    if (version !== undefined && !VERSION.test(version)) {
      problems.push(invalid(field(`${mode}-version`), version, 'must be "latest" or "v1.x"'));
    }
    return {
      level: level === undefined ? defaults[mode].level : isLevel(level) ? level : 'restricted',
      version: version === undefined ? defaults[mode].version : VERSION.test(version) ? version : 'latest',
    };
  };
  return { policy: { enforce: of('enforce'), audit: of('audit'), warn: of('warn') }, problems };
}

function describe({ level, version }: LevelVersion): string {
  return JSON.stringify(`${level}:${version}`);
}

/** Of what may change in a pod, only other images and containers can make it violate a standard that it kept to. */
function isSignificant(pod: KubeObject, old: KubeObject): boolean {
  const containers = allContainers(podSpec(pod));
  const before = allContainers(podSpec(old));
  if (containers.length !== before.length) return true;
  const hasProfiles = [pod, old].some(({ metadata: { annotations = {} } }) =>
    keysOf(annotations).some((key) => key.startsWith(SECCOMP_ANNOTATION)),
  );
  return containers.some(({ name, image }, index) => {
    const seccomp = hasProfiles ? `${SECCOMP_ANNOTATION}${name ?? ''}` : '';
    return (
      before[index]?.name !== name ||
      before[index]?.image !== image ||
      (hasProfiles && pod.metadata.annotations?.[seccomp] !== old.metadata.annotations?.[seccomp])
    );
  });
}

function templateOf({ resource, group, object }: AdmissionAttributes): KubeObject | undefined {
  let found: unknown = object;
  for (const field of TEMPLATES[group === '' ? resource : `${resource}.${group}`] ?? []) {
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[field];
  }
  const template = found as Partial<KubeObject> | undefined;
  return template?.spec === undefined ? undefined : { metadata: {}, ...template };
}

/**
 * PodSecurity: a namespace's labels say which of the Pod Security Standards its pods must keep to (`enforce`), and about
 * which violations the audit log (`audit`) and the client (`warn`) are told. Without labels nothing happens.
 */
export function podSecurity(
  { defaults, exempt }: PodSecurityConfiguration,
  { getNamespace, listPods }: PodSecurityDependencies,
): AdmissionPlugin {
  /** By what the request is exempt; undefined when it is not. */
  const exemptionOf = ({ namespace, user }: AdmissionAttributes, pod: KubeObject): string | undefined => {
    if (exempt.namespaces.has(namespace)) return 'namespace';
    if (exempt.users.has(user.name)) return 'user';
    return exempt.runtimeClasses.has(podSpec(pod).runtimeClassName ?? '') ? 'runtimeClass' : undefined;
  };

  const checkPod = async (attributes: AdmissionAttributes, pod: KubeObject, enforces: boolean): Promise<void> => {
    const namespace = await getNamespace(attributes.namespace);
    const { policy } = policyOf(namespace?.metadata.labels, defaults);
    if (MODES.every((mode) => policy[mode].level === 'privileged')) return;
    const exemption = exemptionOf(attributes, pod);
    if (exemption !== undefined) {
      attributes.annotate(`${PREFIX}exempt`, exemption);
      return;
    }
    const found = new Map<Level, readonly string[]>();
    const violations = (mode: Mode): string => {
      const { level } = policy[mode];
      if (!found.has(level)) found.set(level, violationsOf(pod, level));
      return found.get(level)?.join(', ') ?? '';
    };
    const audited = violations('audit');
    const told = violations('warn');
    if (audited !== '') {
      attributes.annotate(
        `${PREFIX}audit-violations`,
        `would violate PodSecurity ${describe(policy.audit)}: ${audited}`,
      );
    }
    const refused = enforces ? violations('enforce') : '';
    if (enforces) attributes.annotate(`${PREFIX}enforce-policy`, `${policy.enforce.level}:${policy.enforce.version}`);
    if (refused !== '') throw refuse(attributes, `violates PodSecurity ${describe(policy.enforce)}: ${refused}`);
    if (told !== '') attributes.warn(`would violate PodSecurity ${describe(policy.warn)}: ${told}`);
  };

  const checkNamespace = async (attributes: AdmissionAttributes): Promise<void> => {
    const { object, oldObject } = attributes;
    const { policy, problems } = policyOf(object?.metadata.labels, defaults);
    const old = policyOf(oldObject?.metadata.labels, defaults);
    const name = object?.metadata.name ?? '';
    if (problems.length > 0 && (oldObject === undefined || old.problems.length === 0)) {
      throw invalidObject({ group: '', kind: 'Namespace' }, name, problems);
    }
    const isTighter = LEVELS.indexOf(policy.enforce.level) > LEVELS.indexOf(old.policy.enforce.level);
    if (oldObject === undefined || !isTighter || exempt.namespaces.has(name)) return;
    const violators = new Map<string, string[]>();
    let checked = 0;
    for await (const pod of eachInTurns(listPods(name), new Turn('pods of a namespace whose policy is tighter'))) {
      if (++checked > MAX_CHECKED_PODS) break;
      const reasons = violationsOf(pod, policy.enforce.level).map((text) => text.slice(0, text.indexOf(' (')));
      if (reasons.length === 0) continue;
      const key = reasons.join(', ');
      const names = violators.get(key);
      if (names === undefined) violators.set(key, [pod.metadata.name ?? '']);
      else names.push(pod.metadata.name ?? '');
    }
    if (violators.size === 0) return;
    attributes.warn(
      `existing pods in namespace ${JSON.stringify(name)} violate the new PodSecurity enforce level ` +
        describe(policy.enforce),
    );
    for (const [reasons, [first = '', ...others]] of violators) {
      const more = others.length === 0 ? '' : ` (and ${others.length} other ${others.length === 1 ? 'pod' : 'pods'})`;
      attributes.warn(`${first}${more}: ${reasons}`);
    }
  };

  return {
    name: 'PodSecurity',
    operations: ['CREATE', 'UPDATE'],
    resources: ['namespaces', 'pods', 'pods/ephemeralcontainers', ...Object.keys(TEMPLATES)],
    validate: async (attributes) => {
      const { resource, group, object, oldObject } = attributes;
      if (object === undefined) return;
      if (group === '' && resource === 'namespaces') return checkNamespace(attributes);
      if (group === '' && resource === 'pods') {
        if (oldObject !== undefined && !isSignificant(object, oldObject)) return;
        return checkPod(attributes, object, true);
      }
      const template = templateOf(attributes);
      if (template !== undefined) await checkPod(attributes, template, false);
    },
  };
}
