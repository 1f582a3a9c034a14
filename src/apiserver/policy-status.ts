import { typeWarnings, type ExpressionWarning, type TypedKinds } from '../admission/policies/type-checking';
import { parseApiVersion, type KubeObject } from '../api/object';
import type { ValidatingAdmissionPolicyStatus } from '../api/schema/generated/admissionregistration-v1';
import { runSteps } from '../async/steps';
import { WorkQueue } from '../async/work-queue';
import { isCode } from '../bootstrap/is-code';
import type { Logger } from '../observability/logger';
import type { ServedCatalogue } from '../resources/served-catalogue';
import type { CloseStack } from './close-stack';
import type { Storage } from './storage';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = 'validatingadmissionpolicies';
/** The name of kube-controller-manager's controller, whose part this is there. */
const MANAGER = 'validatingadmissionpolicy-status';
/** Several replicas see the same change; mostly one of them has told it when the others come to it. */
const SETTLE_MS = 100;

/** Tells in the status of ValidatingAdmissionPolicies what is wrong with the types in their expressions. */
export interface PolicyStatus {
  /** Writes from now on: the store can be written to. */
  begin(): void;
}

/** Resolves when the policies are known. */
export async function startPolicyStatus(storage: Storage, logger: Logger, parts: CloseStack): Promise<PolicyStatus> {
  const policies = new Map<string, KubeObject>();
  const stop = new AbortController();
  const queue = new WorkQueue(
    (name) => checkPolicy(storage, policies.get(name), stop.signal),
    (policy, error) => logger.warn({ err: error, policy }, 'checking the types of a policy failed'),
    { paused: true, maxActive: 1 },
  );
  const feed = storage.feed([
    {
      storagePrefix: POLICIES,
      put: (policy) => {
        const { name = '' } = policy.metadata;
        policies.set(name, policy);
        if (!isChecked(policy)) queue.addAfter(name, SETTLE_MS);
      },
      delete: ({ metadata: { name = '' } }) => void policies.delete(name),
    },
  ]);
  parts.add(async () => {
    stop.abort();
    await queue.close();
  });
  parts.add(() => feed.close());
  await feed.caughtUp;
  return { begin: () => queue.resume() };
}

function statusOf(policy: KubeObject): ValidatingAdmissionPolicyStatus {
  return policy['status'] ?? {};
}

function isChecked(policy: KubeObject): boolean {
  return (statusOf(policy).observedGeneration ?? 0) >= (policy.metadata.generation ?? 0);
}

async function checkPolicy(
  { own, catalogue }: Storage,
  policy: KubeObject | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (policy === undefined || isChecked(policy)) return;
  const { name = '', generation } = policy.metadata;
  const steps = typeWarnings(policy['spec'] ?? {}, typedKinds(catalogue));
  const warnings = await runSteps(steps, 'checking the types of a policy');
  const policies = own(GROUP, POLICIES, MANAGER);
  const strategy = policies.served.definition.subresources.find((one) => one.name === 'status')?.strategy;
  if (strategy === undefined) return;
  const change = (current: KubeObject | undefined): KubeObject => {
    if (current === undefined || current.metadata.generation !== generation || isChecked(current)) return current!;
    return { ...current, status: checkedStatus(current, warnings) };
  };
  try {
    await policies.update({ namespace: '', name, change, strategy }, { signal, dryRun: false });
  } catch (error) {
    // Deleted meanwhile.
    if (!isCode(error, 404)) throw error;
  }
}

function checkedStatus(
  policy: KubeObject,
  expressionWarnings: readonly ExpressionWarning[],
): ValidatingAdmissionPolicyStatus {
  return {
    ...statusOf(policy),
    observedGeneration: policy.metadata.generation ?? 0,
    typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
  };
}

function typedKinds(catalogue: ServedCatalogue): TypedKinds {
  return {
    ofResource: (group, version, resource) => {
      const served = catalogue.resolve(group, version, resource);
      return served && { kind: { group, version, kind: served.definition.kind }, type: served.type };
    },
    ofKind: (apiVersion, kind) => {
      const { group, version } = parseApiVersion(apiVersion);
      const definition = catalogue
        .definitions()
        .find((one) => one.kind === kind && one.versions.some((v) => v.group === group && v.version === version));
      return definition && catalogue.resolve(group, version, definition.resource)?.type;
    },
  };
}
