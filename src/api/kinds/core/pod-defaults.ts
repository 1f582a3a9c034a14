import { extend } from '../../extend';
import { setOwn } from '../../codec/set-own';
import { fill, mapEach } from '../../fill-later';
import type { KubeObject, ObjectMeta } from '../../object';
import { isLarge, keysOf, PART_VALUES, rememberKeys, type Steps } from '../../parts';
import { formatQuantity, parseQuantity, roundUpQuantity } from '../../quantity/quantity';
import type {
  Container,
  ContainerPort,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  ResourceRequirements,
  Volume,
} from '../../schema/generated/core-v1';
import type { PlainMap } from '../field-values';
import { isLatest } from './image-reference';

/** Defaults of pods and their templates that depend on other fields; the constant ones are the schema's. */

type Amounts = Readonly<Record<string, string>>;

const MILLI = -3;
/** Only canonical texts with these endings are finer than a thousandth. */
const finerThanMilli = /[nu]$|e-/;

function roundedAmount(text: string): string {
  return finerThanMilli.test(text) ? formatQuantity(roundUpQuantity(parseQuantity(text), MILLI)) : text;
}

/** Amounts of resources are kept in thousandths. */
export function roundedAmounts(amounts: Amounts): Amounts {
  const names = keysOf(amounts);
  const isLong = names.length > PART_VALUES;
  if (!isLong && !names.some((name) => finerThanMilli.test(amounts[name] ?? ''))) return amounts;
  const rounded: Record<string, string> = {};
  // Whoever asks whether there are many may do so before they are there.
  rememberKeys(rounded, names);
  fill(putRounded(rounded, amounts, names));
  return rounded;
}

function* putRounded(rounded: Record<string, string>, amounts: Amounts, names: readonly string[]): Steps<void> {
  for (const name of names) {
    setOwn(rounded, name, roundedAmount(amounts[name] ?? ''));
    yield;
  }
}

function defaultResources(resources: ResourceRequirements): ResourceRequirements {
  const { limits, requests } = resources;
  return {
    ...resources,
    ...(limits === undefined ? {} : { limits: roundedAmounts(limits) }),
    ...(requests === undefined ? {} : { requests: roundedAmounts(requests) }),
  };
}

function defaultContainer<C extends Container>(container: C, hostNetwork: boolean): C {
  const { imagePullPolicy, image = '', ports, resources } = container;
  const toHostPort = (port: ContainerPort): ContainerPort =>
    port.hostPort ? port : { ...port, ...(port.containerPort ? { hostPort: port.containerPort } : {}) };
  return extend(container, {
    imagePullPolicy: imagePullPolicy || (isLatest(image) ? 'Always' : 'IfNotPresent'),
    ...(resources === undefined ? {} : { resources: defaultResources(resources) }),
    ...(hostNetwork && ports !== undefined ? { ports: mapEach(ports, toHostPort) } : {}),
  });
}

/** A volume that says nothing is an empty folder. */
function defaultVolume(volume: Volume): Volume {
  const hasSource = Object.entries(volume).some(([name, source]) => name !== 'name' && source !== undefined);
  return hasSource ? volume : { ...volume, emptyDir: {} };
}

/** Both names of the field say the same; the newer one decides. */
function withServiceAccount(spec: PodSpec): PodSpec {
  const name = spec.serviceAccountName || spec.serviceAccount;
  return name ? extend(spec, { serviceAccountName: name, serviceAccount: name }) : spec;
}

/** What pods and templates have in common. */
function defaultPodSpec(spec: PodSpec): PodSpec {
  const { containers, initContainers, ephemeralContainers, volumes, overhead } = spec;
  const hostNetwork = spec.hostNetwork === true;
  return withServiceAccount({
    ...spec,
    ...(volumes === undefined ? {} : { volumes: mapEach(volumes, defaultVolume) }),
    ...(initContainers === undefined
      ? {}
      : { initContainers: mapEach(initContainers, (container) => defaultContainer(container, hostNetwork)) }),
    ...(containers ? { containers: mapEach(containers, (container) => defaultContainer(container, hostNetwork)) } : {}),
    ...(ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: mapEach(ephemeralContainers, (container) => defaultContainer(container, false)) }),
    ...(overhead === undefined ? {} : { overhead: roundedAmounts(overhead) }),
    securityContext: spec.securityContext ?? {},
  });
}

/** Where old clients kept init containers before there were fields for them; dropped, lest they contradict the fields. */
const OLD_INIT_ANNOTATIONS = ['alpha', 'beta'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
]);

function withoutOldAnnotations<M extends ObjectMeta>(metadata: M): M {
  const { annotations } = metadata;
  if (annotations === undefined || !OLD_INIT_ANNOTATIONS.some((key) => key in annotations)) return metadata;
  const kept = Object.entries(annotations).filter(([key]) => !OLD_INIT_ANNOTATIONS.includes(key));
  return { ...metadata, annotations: Object.fromEntries(kept) };
}

/** The computed defaults of a pod template. */
export function podTemplateDefaults(template: PlainMap): PlainMap {
  const { metadata, spec = {} } = template as PodTemplateSpec;
  return {
    ...template,
    ...(metadata === undefined ? {} : { metadata: withoutOldAnnotations(metadata) }),
    spec: defaultPodSpec(spec),
  };
}

/** In pods, a container that limits a resource and requests none of it requests all that it may have. */
function requestLimits<C extends Container>(container: C): C {
  const { resources } = container;
  if (resources?.limits === undefined) return container;
  const { limits, requests = {} } = resources;
  return {
    ...container,
    resources: { ...resources, requests: isLarge(limits) ? bothLater(limits, requests) : { ...limits, ...requests } },
  };
}

/** `{ ...before, ...after }` of amounts that may be many. Not by `mergedMap`: what is rounded may not be there yet. */
function bothLater(before: Amounts, after: Amounts): Amounts {
  const both: Record<string, string> = {};
  fill(putInto(both, before, after));
  return both;
}

function* putInto(both: Record<string, string>, before: Amounts, after: Amounts): Steps<void> {
  const names: string[] = [];
  for (const amounts of [before, after]) {
    for (const name of keysOf(amounts)) {
      if (!Object.hasOwn(both, name)) names.push(name);
      setOwn(both, name, amounts[name]);
      yield;
    }
  }
  rememberKeys(both, names);
}

/** The single address is that of old kubelets: where both are given and differ, it is the one that counts. */
function withBothAddresses(status: PodStatus): PodStatus {
  const { podIP = '', podIPs = [] } = status;
  const first = podIPs[0]?.ip ?? '';
  if (podIP !== '' && podIP !== first) return { ...status, podIPs: [{ ip: podIP }] };
  return podIP === '' && first !== '' ? { ...status, podIP: first } : status;
}

/** The computed defaults of a pod. */
export function defaultPod(object: KubeObject): KubeObject {
  const spec = defaultPodSpec(object['spec'] ?? {});
  const status = object['status'] as PodStatus | undefined;
  return {
    ...object,
    metadata: withoutOldAnnotations(object.metadata),
    spec: extend(spec, {
      enableServiceLinks: spec.enableServiceLinks ?? true,
      ...(spec.initContainers === undefined ? {} : { initContainers: mapEach(spec.initContainers, requestLimits) }),
      ...(spec.containers ? { containers: mapEach(spec.containers, requestLimits) } : {}),
    }),
    ...(status === undefined ? {} : { status: withBothAddresses(status) }),
  };
}
