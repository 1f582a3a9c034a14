import { extend } from '../api/extend';
import type { KubeObject } from '../api/object';
import { refuse, type AdmissionAttributes, type AdmissionPlugin, type ObjectAttributes } from './plugin';

interface PodPriority {
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
}

const PODS = 'pods';
const CLASSES = 'priorityclasses.scheduling.k8s.io';
const DEFAULT_PREEMPTION = 'PreemptLowerPriority';

/** What the plugin reads; answered from the cache. */
export interface PriorityClasses {
  readonly get: (name: string) => KubeObject | undefined;
  readonly list: () => Iterable<KubeObject>;
}

/** Of several default classes the one with the smallest value counts (spec, PriorityClass). */
function defaultClass(classes: Iterable<KubeObject>): KubeObject | undefined {
  let found: KubeObject | undefined;
  for (const one of classes) {
    if (one.globalDefault !== true) continue;
    if (found === undefined || (one.value as number) < (found.value as number)) found = one;
  }
  return found;
}

function admitPod(attributes: ObjectAttributes, classes: PriorityClasses): KubeObject {
  const spec = (attributes.object.spec ?? {}) as PodPriority;
  const named = spec.priorityClassName ?? '';
  const found = named === '' ? defaultClass(classes.list()) : classes.get(named);
  if (named !== '' && found === undefined) throw refuse(attributes, `no PriorityClass with name ${named} was found`);
  const priority = (found?.value as number | undefined) ?? 0;
  if (spec.priority !== undefined && spec.priority !== priority) {
    throw refuse(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; ` +
        `priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const preemptionPolicy = (found?.preemptionPolicy as string | undefined) ?? DEFAULT_PREEMPTION;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw refuse(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ` +
        `priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  const priorityClassName = found?.metadata.name;
  return {
    ...attributes.object,
    spec: extend(spec, {
      priority,
      preemptionPolicy,
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
    }),
  };
}

function checkSingleDefault(attributes: AdmissionAttributes, classes: PriorityClasses): void {
  if (attributes.object?.globalDefault !== true) return;
  const other = defaultClass(classes.list());
  if (other === undefined || other.metadata.name === attributes.object.metadata.name) return;
  throw refuse(
    attributes,
    `PriorityClass ${other.metadata.name ?? ''} is already marked as default. Only one default can exist`,
  );
}

/** Priority: a pod gets the number and the preemption policy of its class, and only one class can be the default. */
export function priorityAdmission(classes: PriorityClasses): AdmissionPlugin {
  return {
    name: 'Priority',
    operations: ['CREATE', 'UPDATE'],
    resources: [PODS, CLASSES],
    mutate: async (attributes) => {
      const { resource, operation, oldObject, object } = attributes;
      if (resource !== PODS) return object;
      if (operation === 'CREATE') return admitPod(attributes, classes);
      const old = (oldObject?.spec ?? {}) as PodPriority;
      const spec = (object.spec ?? {}) as PodPriority;
      // An update that leaves these out means the ones that stand.
      return {
        ...object,
        spec: {
          ...spec,
          ...(spec.priority === undefined && old.priority !== undefined ? { priority: old.priority } : {}),
          ...(spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined
            ? { preemptionPolicy: old.preemptionPolicy }
            : {}),
        },
      };
    },
    validate: async (attributes) => {
      if (attributes.resource !== PODS) checkSingleDefault(attributes, classes);
    },
  };
}
