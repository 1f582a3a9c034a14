import { internalError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { refuse, type AdmissionPlugin, type ObjectAttributes } from './plugin';

/** How a claim or an ingress without a class gets the cluster's default one: on create only. */
interface DefaultClassRule {
  readonly plugin: string;
  /** With its group. */
  readonly resource: string;
  readonly annotations: readonly string[];
  readonly needsClass: (object: KubeObject) => boolean;
  readonly withClass: (object: KubeObject, name: string) => KubeObject;
  readonly tooMany: (count: number) => string;
}

function isDefault(object: KubeObject, annotations: readonly string[]): boolean {
  return annotations.some((annotation) => object.metadata.annotations?.[annotation] === 'true');
}

function defaultClass(rule: DefaultClassRule, listClasses: () => Iterable<KubeObject>): AdmissionPlugin {
  const admit = (attributes: ObjectAttributes): KubeObject => {
    const { object } = attributes;
    if (!rule.needsClass(object)) return object;
    const defaults = [...listClasses()].filter((one) => isDefault(one, rule.annotations));
    const [only] = defaults;
    if (only === undefined) return object;
    if (defaults.length > 1) {
      throw refuse(attributes, internalError(rule.tooMany(defaults.length)).message);
    }
    return rule.withClass(object, only.metadata.name ?? '');
  };
  return {
    name: rule.plugin,
    operations: ['CREATE'],
    resources: [rule.resource],
    mutate: async (attributes) => admit(attributes),
  };
}

/** DefaultStorageClass: a claim that names no class gets the default one. */
export function defaultStorageClass(listStorageClasses: () => Iterable<KubeObject>): AdmissionPlugin {
  const spec = (object: KubeObject): { readonly storageClassName?: string } => object.spec ?? {};
  return defaultClass(
    {
      plugin: 'DefaultStorageClass',
      resource: 'persistentvolumeclaims',
      annotations: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
      needsClass: (object) =>
        spec(object).storageClassName === undefined &&
        object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] === undefined,
      withClass: (object, storageClassName) => ({ ...object, spec: { ...spec(object), storageClassName } }),
      tooMany: (count) => `${count} default StorageClasses were found`,
    },
    listStorageClasses,
  );
}

/** DefaultIngressClass: an ingress that names no class, in its spec or by the old annotation, gets the default one. */
export function defaultIngressClass(listIngressClasses: () => Iterable<KubeObject>): AdmissionPlugin {
  const spec = (object: KubeObject): { readonly ingressClassName?: string } => object.spec ?? {};
  return defaultClass(
    {
      plugin: 'DefaultIngressClass',
      resource: 'ingresses.networking.k8s.io',
      annotations: ['ingressclass.kubernetes.io/is-default-class'],
      needsClass: (object) =>
        spec(object).ingressClassName === undefined &&
        object.metadata.annotations?.['kubernetes.io/ingress.class'] === undefined,
      withClass: (object, ingressClassName) => ({ ...object, spec: { ...spec(object), ingressClassName } }),
      tooMany: (count) => `${count} default IngressClasses were found, only 1 allowed`,
    },
    listIngressClasses,
  );
}
