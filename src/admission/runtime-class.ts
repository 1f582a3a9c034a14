import { parseQuantity } from '../api/quantity/quantity';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { podSpec, withSpec, type PodSpec, type Toleration } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';
import { mergeTolerations } from './tolerations';

interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: Readonly<Record<string, string>> };
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly Toleration[];
  };
}

type Overhead = NonNullable<PodSpec['overhead']>;

function sameOverhead(a: Overhead, b: Overhead): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => Object.hasOwn(b, key) && parseQuantity(a[key] ?? '0').nanos === parseQuantity(b[key] ?? '0').nanos,
    )
  );
}

function mismatch(attributes: AdmissionAttributes) {
  return refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

/** The pod's node selector with the class's; they may not contradict each other. */
function joinedSelector(
  attributes: AdmissionAttributes,
  ofPod: Readonly<Record<string, string>>,
  ofClass: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(ofClass)) {
    if (!Object.hasOwn(ofPod, key) || ofPod[key] === value) continue;
    throw refuse(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${ofPod[key] ?? ''}`,
    );
  }
  return { ...ofPod, ...ofClass };
}

/** RuntimeClass: a pod with a runtime class gets the class's overhead and goes where that runtime is. */
export function runtimeClassAdmission(
  getRuntimeClass: (name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  const classOf = async (attributes: AdmissionAttributes, spec: PodSpec): Promise<RuntimeClass | undefined> => {
    const { runtimeClassName: name } = spec;
    if (name === undefined) return undefined;
    const found = name === '' ? undefined : await getRuntimeClass(name);
    if (found === undefined) {
      throw refuse(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    }
    return found as RuntimeClass;
  };
  return {
    name: 'RuntimeClass',
    operations: ['CREATE'],
    resources: ['pods'],
    mutate: async (attributes) => {
      const spec = podSpec(attributes.object);
      const found = await classOf(attributes, spec);
      if (found === undefined) return attributes.object;
      const overhead = found.overhead?.podFixed;
      if (overhead !== undefined && spec.overhead !== undefined && !sameOverhead(overhead, spec.overhead)) {
        throw mismatch(attributes);
      }
      const { nodeSelector, tolerations } = found.scheduling ?? {};
      return withSpec(attributes.object, {
        ...(overhead === undefined ? {} : { overhead }),
        ...(nodeSelector === undefined
          ? {}
          : { nodeSelector: joinedSelector(attributes, spec.nodeSelector ?? {}, nodeSelector) }),
        ...(tolerations === undefined ? {} : { tolerations: mergeTolerations(spec.tolerations ?? [], tolerations) }),
      });
    },
    validate: async (attributes) => {
      if (attributes.object === undefined) return;
      const spec = podSpec(attributes.object);
      const wanted = (await classOf(attributes, spec))?.overhead?.podFixed;
      if (wanted !== undefined) {
        if (spec.overhead === undefined || !sameOverhead(wanted, spec.overhead)) throw mismatch(attributes);
      } else if (spec.overhead !== undefined) {
        throw refuse(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
  };
}
