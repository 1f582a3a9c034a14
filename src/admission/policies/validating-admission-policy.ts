import { StatusError, type StatusReason } from '../../api/errors/status-error';
import type { MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import { selectorRequirements, type LabelRequirement, type LabelSelector } from '../../api/selectors/label-selector';
import type { Value } from '../../api/cel/values';
import { Turn } from '../../async/turn';
import type { Authorizer } from '../../authz/attributes';
import { adaptObject, requestValues, type RequestValues } from '../cel/request-values';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from '../plugin';
import { isExempt } from '../rules/exempt';
import {
  compileMatcher,
  type MatchResources,
  type RequestedResource,
  type ResourceMatcher,
} from '../rules/match-resources';
import { converted } from '../versions/converted';
import { keyOf, type ObjectVersions, type VersionedResource } from '../versions/object-versions';
import { decide } from './decide';
import { Findings, type Finding } from './findings';
import type { PolicyMetrics } from './metrics';
import { compilePolicy, type Policy, type PolicyPrograms } from './policy';

/** What the plugin reads. */
export interface PolicyDependencies {
  readonly listPolicies: () => Iterable<KubeObject>;
  readonly listBindings: () => Iterable<KubeObject>;
  /** Another value whenever policies or bindings have changed. */
  readonly revision: () => number;
  readonly getNamespace: (name: string) => MaybePromise<KubeObject | undefined>;
  /** Objects of a kind, in a namespace or (where it is undefined) in none; undefined: the kind is not served. */
  readonly params: (
    kind: { readonly apiVersion: string; readonly kind: string },
    namespace: string | undefined,
  ) => ParamSource | undefined;
  readonly versions: ObjectVersions;
  readonly authorize: Authorizer;
  readonly metrics: PolicyMetrics;
}

export interface ParamSource {
  readonly namespaced: boolean;
  readonly get: (name: string) => MaybePromise<KubeObject | undefined>;
  /** One by one, with others in between: users may have made as many as they like. */
  readonly list: (labels: readonly LabelRequirement[], turn: Turn) => AsyncIterable<KubeObject>;
}

interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector | null;
  readonly parameterNotFoundAction?: string | null;
}

interface Binding {
  readonly name: string;
  readonly matcher: ResourceMatcher;
  readonly paramRef: ParamRef | undefined;
  readonly actions: ReadonlySet<string>;
}

interface Bound {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

/** Policies that may be about requests for a resource. */
interface Candidates {
  readonly requested: RequestedResource;
  readonly bound: readonly Bound[];
}

/** Kinds of requests whose policies are remembered. Resources come and go. */
const MAX_REMEMBERED = 10_000;

const CODES: Readonly<Partial<Record<StatusReason, number>>> = {
  Unauthorized: 401,
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
};

/** ValidatingAdmissionPolicies with their bindings. Policies are compiled when they change; a request costs a comparison without any. */
export function validatingAdmissionPolicy(dependencies: PolicyDependencies): AdmissionPlugin {
  const compiled = new WeakMap<KubeObject, Policy>();
  let revision: number | undefined;
  let generation: number | undefined;
  let bound: readonly Bound[] = [];
  const remembered = new Map<string, Candidates>();
  const { versions } = dependencies;
  const refresh = (): readonly Bound[] => {
    const current = dependencies.revision();
    if (current !== revision) bound = bindAll(dependencies, compiled);
    if (current !== revision || versions.generation() !== generation) remembered.clear();
    revision = current;
    generation = versions.generation();
    return bound;
  };
  /** Those that may be about such requests: looked for once. */
  const candidatesFor = ({
    operation,
    group,
    version,
    resource,
    subresource,
    kind,
  }: AdmissionAttributes): Candidates => {
    const asRequested = { group, version, resource, subresource, kind };
    const key = `${operation} ${keyOf(asRequested)}`;
    let candidates = remembered.get(key);
    if (candidates === undefined) {
      const requested = { operation, asRequested, equivalents: versions.equivalents(asRequested) };
      candidates = { requested, bound: bound.filter(({ policy }) => policy.matcher.mayMatch(requested)) };
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, candidates);
    }
    return candidates;
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      if (refresh().length === 0) return undefined;
      if (isExempt(attributes)) return undefined;
      const candidates = candidatesFor(attributes);
      return candidates.bound.length === 0 ? undefined : validate(candidates, attributes, dependencies);
    },
  };
}

function bindAll(dependencies: PolicyDependencies, compiled: WeakMap<KubeObject, Policy>): readonly Bound[] {
  const bindings = new Map<string, Binding[]>();
  for (const binding of dependencies.listBindings()) {
    const spec = (binding['spec'] ?? {}) as {
      readonly policyName?: string;
      readonly paramRef?: ParamRef | null;
      readonly matchResources?: MatchResources | null;
      readonly validationActions?: readonly string[];
    };
    const list = bindings.get(spec.policyName ?? '') ?? [];
    bindings.set(spec.policyName ?? '', list);
    list.push({
      name: binding.metadata.name ?? '',
      matcher: compileMatcher(spec.matchResources ?? {}, false),
      paramRef: spec.paramRef ?? undefined,
      actions: new Set(spec.validationActions),
    });
  }
  const all: Bound[] = [];
  for (const object of dependencies.listPolicies()) {
    const own = bindings.get(object.metadata.name ?? '');
    if (own === undefined) continue;
    let policy = compiled.get(object);
    if (policy === undefined) {
      policy = compilePolicy(object, (seconds) => dependencies.metrics.compiled(seconds));
      compiled.set(object, policy);
    }
    all.push({ policy, bindings: own });
  }
  return all;
}

async function validate(
  { bound, requested }: Candidates,
  attributes: AdmissionAttributes,
  dependencies: PolicyDependencies,
): Promise<void> {
  const namespace = await namespaceOf(attributes, dependencies);
  const labels =
    attributes.namespace === '' && namespace === undefined ? undefined : (namespace?.metadata.labels ?? {});
  const findings = new Findings();
  const turn = new Turn('policies of admission');
  const seen = new Map<string, MaybePromise<RequestValues>>();
  /** Policies that name the same version see the same values. */
  const see = (as: VersionedResource): MaybePromise<RequestValues> => {
    const key = keyOf(as);
    let values = seen.get(key);
    if (values === undefined) {
      const { versions, authorize } = dependencies;
      seen.set(key, (values = converted(() => requestValues(attributes, as, versions, authorize))));
    }
    return values;
  };
  for (const { policy, bindings } of bound) {
    const seenAs = policy.matcher.match(attributes, requested, labels);
    if (seenAs === undefined) continue;
    const own = bindings.filter(({ matcher }) => matcher.match(attributes, requested, labels) !== undefined);
    if (own.length === 0) continue;
    await applyPolicy(policy, own, {
      attributes,
      namespace,
      see: () => see(seenAs),
      dependencies,
      findings,
      turn,
    });
  }
  for (const [key, values] of findings.annotations) attributes.annotate(key, [...values].join(', '));
  report(findings, attributes, dependencies.metrics);
}

interface Application {
  readonly attributes: AdmissionAttributes;
  readonly namespace: KubeObject | undefined;
  /** Rejects where the objects cannot be had in the version that the policy names. */
  readonly see: () => MaybePromise<RequestValues>;
  readonly dependencies: PolicyDependencies;
  readonly findings: Findings;
  readonly turn: Turn;
}

async function applyPolicy(policy: Policy, bindings: readonly Binding[], application: Application): Promise<void> {
  const { attributes, findings, turn } = application;
  const programs = await policy.programs();
  for (const binding of bindings) {
    if (turn.isOver) await turn.next();
    /** What cannot be evaluated counts as the policy says. */
    const failed = (error: unknown, more: Pick<Finding, 'isBroken'> = {}): void => {
      const { message } = error as Error;
      if (policy.failsClosed) findings.add({ policy, binding, message, reason: '', index: undefined, ...more });
    };
    if (programs.problem !== undefined) {
      failed(new Error(programs.problem));
      continue;
    }
    try {
      const request = await seenRequest(application.see);
      for await (const param of paramsOf(policy, binding, application)) {
        await applyBinding({ policy, programs, binding, param }, request, application).catch(failed);
      }
    } catch (error) {
      if (attributes.signal().aborted) throw error;
      const { message } = error as Error;
      failed(new Error(`failed to configure binding: ${message}`), { isBroken: true });
    }
  }
}

async function applyBinding(
  {
    policy,
    programs,
    binding,
    param,
  }: {
    readonly policy: Policy;
    readonly programs: PolicyPrograms;
    readonly binding: Binding;
    readonly param: KubeObject | undefined;
  },
  request: RequestValues,
  { namespace, dependencies, findings }: Application,
): Promise<void> {
  const more: Record<string, Value> = { namespaceObject: adaptObject(namespace) };
  if (policy.paramKind) more['params'] = adaptObject(param);
  if (programs.conditions !== undefined && !(await programs.conditions.match(request, more))) return;
  const start = performance.now();
  const { failures, annotations } = await decide(policy, programs, request, more);
  const seconds = (performance.now() - start) / 1000;
  const outcome = failures.length === 0 ? 'allow' : 'deny';
  dependencies.metrics.checked(policy.name, binding.name, outcome, seconds);
  for (const failure of failures) findings.add({ ...failure, policy, binding });
  for (const [key, value] of annotations) findings.annotate(key, value);
}

async function seenRequest(see: Application['see']): Promise<RequestValues> {
  try {
    return await see();
  } catch (error) {
    throw new Error(`failed to convert object version: ${(error as Error).message}`, { cause: error });
  }
}

/** The namespace of the request; of a namespace that is written, itself as it is to be. */
function namespaceOf(
  { group, resource, namespace, object, oldObject }: AdmissionAttributes,
  { getNamespace }: PolicyDependencies,
): MaybePromise<KubeObject | undefined> {
  if (group === '' && resource === 'namespaces') return object ?? oldObject;
  return namespace === '' ? undefined : getNamespace(namespace);
}

/** The parameters with which a binding evaluates its policy. Throws an Error that says why there are none and there should be. */
async function* paramsOf(
  { paramKind }: Policy,
  { paramRef }: Binding,
  { attributes, dependencies: { params }, turn }: Application,
): AsyncGenerator<KubeObject | undefined, void, void> {
  if (!paramKind || paramRef === undefined) return yield undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const namespace =
    paramRef.namespace === undefined || paramRef.namespace === '' ? attributes.namespace : paramRef.namespace;
  const source = params({ apiVersion, kind }, namespace);
  if (source === undefined) {
    throw new Error(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`);
  }
  if (source.namespaced && namespace === '') {
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  if (!source.namespaced && (paramRef.namespace ?? '') !== '') {
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  let isFound = false;
  if (paramRef.name !== undefined && paramRef.name !== '') {
    const one = await source.get(paramRef.name);
    isFound = one !== undefined;
    if (isFound) yield one;
  } else {
    for await (const one of source.list(selectorRequirements(paramRef.selector) ?? [], turn)) {
      // Who has gone, or waits no longer, pays for no more of them.
      attributes.signal().throwIfAborted();
      isFound = true;
      yield one;
    }
  }
  if (isFound || paramRef.parameterNotFoundAction !== 'Deny') return;
  throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
}

/** Warns, annotates, and refuses with the first of those that are to refuse. */
function report({ all, denial }: Findings, attributes: AdmissionAttributes, metrics: PolicyMetrics): void {
  const audited: object[] = [];
  for (const finding of all) {
    const { policy, binding, message, index } = finding;
    const { actions } = binding;
    if (finding.isBroken === true) continue;
    if (actions.has('Warn')) {
      attributes.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
    }
    if (actions.has('Audit')) {
      audited.push({
        message,
        policy: policy.name,
        binding: binding.name,
        expressionIndex: index ?? 0,
        validationActions: [...actions],
      });
    }
  }
  if (audited.length > 0) {
    attributes.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify(audited));
  }
  if (denial === undefined) return;
  metrics.denied(denial.policy.name, denial.binding.name);
  throw denialOf(denial, attributes);
}

function denialOf({ policy, binding, message, reason }: Finding, attributes: AdmissionAttributes): StatusError {
  const text = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
  const wanted = (reason === '' ? 'Invalid' : reason) as StatusReason;
  const { status } = refuse(attributes, text);
  const details = { ...status.details, causes: [{ message: text }] };
  return new StatusError(CODES[wanted] ?? 422, wanted, status.message ?? text, details);
}
