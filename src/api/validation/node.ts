import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkAfter, checkEach } from './check-each';
import { deepEqual } from '../kinds/deep-equal';
import { isPlainMap, listAt, valueAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import type { NodeConfigSource, NodeSpec, NodeStatus, Taint } from '../schema/generated/core-v1';
import { parseCidr } from './cidr';
import { configKeyProblems } from './config-keys';
import { invalidLiteral, once, stringListLiteral } from './go-literal';
import { goJsonObjectProblem } from './json-problem';
import { labelValueProblems } from './label-syntax';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names';
import { invalidBecause, validateQualifiedName } from './pod/field-rules';
import { validateResourceQuantity } from './pod/resources';

/** Asks the scheduler to prefer other nodes for pods of certain controllers. */
const AVOID_PODS = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const MAX_POD_CIDRS = 2;

function specOf(object: KubeObject): NodeSpec {
  return object['spec'] ?? {};
}

function statusOf(object: KubeObject): NodeStatus {
  return object['status'] ?? {};
}

function validateAvoidPods({ metadata }: KubeObject): readonly FieldError[] {
  const text = metadata.annotations?.[AVOID_PODS] ?? '';
  if (text === '') return [];
  const problem = goJsonObjectProblem(text);
  if (problem !== undefined) return [invalid('metadata.annotations.AvoidPods', AVOID_PODS, problem)];
  const entries = listAt(JSON.parse(text), 'preferAvoidPods');
  return checkEach(entries, (entry, index) => {
    const path = `metadata.annotations.${AVOID_PODS}[${index}].PodSignature`;
    const controller = valueAt(entry, 'podSignature', 'podController');
    if (!isPlainMap(controller)) return [required(path, '')];
    return controller['controller'] === true
      ? []
      : [invalid(`${path}.PodController.Controller`, false, 'must point to a controller')];
  });
}

function duplicateTaint({ key = '', value = '', effect = '', timeAdded }: Taint, field: string): FieldError {
  const time = timeAdded ? JSON.stringify(timeAdded) : '<nil>';
  const literal = `core.Taint{Key:${JSON.stringify(key)}, Value:${JSON.stringify(value)}, Effect:${JSON.stringify(effect)}, TimeAdded:${time}}`;
  return {
    reason: 'FieldValueDuplicate',
    field,
    message: `Duplicate value: ${literal}: taints must be unique by key and effect pair`,
  };
}

/** The messages place taints among the metadata, where they once were. */
function validateTaints({ taints = [] }: NodeSpec): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(taints, (taint, index) => {
    const path = `metadata.taints[${index}]`;
    const { key = '', value = '', effect = '' } = taint;
    const identity = JSON.stringify([effect, key]);
    const problems = labelValueProblems(value);
    const errors = [
      ...validateQualifiedName(key, `${path}.key`),
      ...(problems.length > 0 ? [invalid(`${path}.value`, value, problems.join(';'))] : []),
      ...validateTaintEffect(effect, `${path}.effect`),
      ...(seen.has(identity) ? [duplicateTaint(taint, path)] : []),
    ];
    seen.add(identity);
    return errors;
  });
}

function validateTaintEffect(effect: string, field: string): readonly FieldError[] {
  if (effect === '') return [required(field, '')];
  return TAINT_EFFECTS.includes(effect) ? [] : [notSupported(field, effect, TAINT_EFFECTS)];
}

function validateAmounts(amounts: Readonly<Record<string, string>> | undefined, path: string): readonly FieldError[] {
  return checkEach(keysOf(amounts ?? {}), (name) =>
    validateResourceQuantity(name, (amounts ?? {})[name] as string, `${path}.${name}`),
  );
}

function validateResources({ capacity, allocatable }: NodeStatus): readonly FieldError[] {
  return [...validateAmounts(capacity, 'status.capacity'), ...validateAmounts(allocatable, 'status.allocatable')];
}

function validatePodCidrs({ podCIDRs = [] }: NodeSpec): readonly FieldError[] {
  const literal = once(() => stringListLiteral('[]string', podCIDRs));
  const families = new Set<number | undefined>();
  return [
    ...checkEach(podCIDRs, (text, index) => {
      const cidr = parseCidr(text);
      families.add(cidr?.bits);
      return cidr === undefined ? [invalidLiteral(`spec.podCIDRs[${index}]`, literal(), 'must be valid CIDR')] : [];
    }),
    ...checkAfter(() =>
      podCIDRs.length > MAX_POD_CIDRS || (podCIDRs.length > 1 && families.size < podCIDRs.length)
        ? [invalidLiteral('spec.podCIDRs', literal(), 'may specify no more than one CIDR for each IP family')]
        : [],
    ),
  ];
}

/** All problems of a node. */
export function validateNode(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  return [
    ...validateAvoidPods(object),
    ...validateTaints(spec),
    ...validateResources(statusOf(object)),
    ...validatePodCidrs(spec),
  ];
}

function validateAddresses({ addresses = [] }: NodeStatus): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(addresses, ({ type = '', address = '' }, index): FieldError[] => {
    const literal = `core.NodeAddress{Type:${JSON.stringify(type)}, Address:${JSON.stringify(address)}}`;
    if (!seen.has(literal)) {
      seen.add(literal);
      return [];
    }
    return [
      { reason: 'FieldValueDuplicate', field: `status.addresses[${index}]`, message: `Duplicate value: ${literal}` },
    ];
  });
}

/** What identifies a node to others is set once. */
function validateIdentity(spec: NodeSpec, oldSpec: NodeSpec): readonly FieldError[] {
  const { podCIDRs = [], providerID = '' } = spec;
  const { podCIDRs: oldCidrs = [], providerID: oldProvider = '' } = oldSpec;
  const cidrProblem = forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid');
  const changed =
    oldCidrs.length === podCIDRs.length || oldCidrs.length === 0
      ? oldCidrs.filter((cidr, index) => cidr !== podCIDRs[index])
      : [''];
  return [
    ...changed.map(() => cidrProblem),
    ...(oldProvider !== '' && oldProvider !== providerID
      ? [forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : []),
  ];
}

/** Where a kubelet's settings come from: a ConfigMap's key, which has an identity only in the status. */
function validateConfigSource(source: NodeConfigSource, path: string, inStatus: boolean): readonly FieldError[] {
  const { configMap } = source;
  if (!configMap) {
    const literal = 'core.NodeConfigSource{ConfigMap:(*core.ConfigMapNodeConfigSource)(nil)}';
    return [invalidLiteral(path, literal, 'exactly one reference subfield must be non-nil')];
  }
  const { uid = '', resourceVersion = '', namespace = '', name = '', kubeletConfigKey: key = '' } = configMap;
  const identity = { uid, resourceVersion };
  const at = (field: string): string => `${path}.configMap.${field}`;
  const named = (field: string, value: string, problems: (text: string) => readonly string[]): readonly FieldError[] =>
    value === '' ? [required(at(field), `${field} must be set`)] : invalidBecause(at(field), value, problems(value));
  return [
    ...Object.entries(identity).flatMap(([field, value]) => {
      if (inStatus) return value === '' ? [required(at(field), `${field} must be set in status`)] : [];
      return value === '' ? [] : [forbiddenField(at(field), `${field} must not be set in spec`)];
    }),
    ...named('namespace', namespace, dns1123LabelProblems),
    ...named('name', name, dns1123SubdomainProblems),
    ...named('kubeletConfigKey', key, configKeyProblems),
  ];
}

const REPORTED_CONFIGS = ['assigned', 'active', 'lastKnownGood'] as const;

function validateConfigSources({ configSource }: NodeSpec, { config }: NodeStatus): readonly FieldError[] {
  return [
    ...(configSource ? validateConfigSource(configSource, 'spec.configSource', false) : []),
    ...REPORTED_CONFIGS.flatMap((field) => {
      const source = config?.[field];
      return source ? validateConfigSource(source, `status.config.${field}`, true) : [];
    }),
  ];
}

/** Everything in the spec but what an update may set, change or set once. */
function fixedPart(
  { configSource: _source, unschedulable: _flag, taints: _taints, ...fixed }: NodeSpec,
  old: NodeSpec,
) {
  const { podCIDR: _cidr, podCIDRs, providerID, ...rest } = fixed;
  return {
    ...rest,
    ...((old.podCIDRs ?? []).length === 0 ? {} : { podCIDRs }),
    ...(old.providerID ? { providerID } : {}),
  };
}

function validateFixedPart(spec: NodeSpec, old: NodeSpec): readonly FieldError[] {
  if (deepEqual(fixedPart(spec, old), fixedPart(old, old))) return [];
  const detail =
    'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)';
  return [forbiddenField('[]', detail)];
}

export function validateNodeStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const status = statusOf(object);
  return [
    ...validateAvoidPods(object),
    ...validateResources(status),
    ...validateAddresses(status),
    ...validateIdentity(spec, specOf(old)),
    ...validateConfigSources(spec, status),
    ...validateTaints(spec),
    ...validateFixedPart(spec, specOf(old)),
  ];
}

/** An update reports the problems of the whole, then those of the change, which are partly the same. */
export function validateNodeUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [...validateNode(object), ...validateNodeStatusUpdate(object, old)];
}
