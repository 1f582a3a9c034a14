import { forbiddenField, invalid, type FieldError } from '../../errors/field-error';
import type { ObjectMeta } from '../../object';
import type { PodSpec } from '../../schema/generated/core-v1';
import { validateSeccompAnnotations } from './seccomp';

/** Annotations that mean something to the system. */

/** On pods that stand for a file on their node. */
export const MIRROR_POD_ANNOTATION = 'kubernetes.io/config.mirror';
const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

function apparmorProblem(profile: string): string | undefined {
  if (profile === '' || profile === 'runtime/default' || profile === 'unconfined') return undefined;
  return profile.startsWith('localhost/') ? undefined : `invalid AppArmor profile name: ${JSON.stringify(profile)}`;
}

function validateApparmor(
  annotations: Readonly<Record<string, string>>,
  { initContainers, containers, ephemeralContainers }: PodSpec,
  path: string,
): readonly FieldError[] {
  const named = [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
  return Object.entries(annotations).flatMap(([key, profile]) => {
    if (!key.startsWith(APPARMOR_PREFIX)) return [];
    const field = `${path}[${key}]`;
    const container = key.slice(APPARMOR_PREFIX.length);
    const problem = apparmorProblem(profile);
    return [
      ...(named.some(({ name }) => name === container) ? [] : [invalid(field, container, 'container not found')]),
      ...(problem === undefined ? [] : [invalid(field, profile, problem)]),
    ];
  });
}

/** Of a pod or of a template. */
export function validatePodAnnotations(
  annotations: ObjectMeta['annotations'],
  spec: PodSpec,
  path: string,
): readonly FieldError[] {
  if (annotations === undefined) return [];
  const mirror = annotations[MIRROR_POD_ANNOTATION];
  return [
    ...(mirror !== undefined && !spec.nodeName
      ? [invalid(`${path}[${MIRROR_POD_ANNOTATION}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set')]
      : []),
    ...validateSeccompAnnotations(annotations, path),
    ...validateApparmor(annotations, spec, path),
  ];
}

/** What such annotations say was acted upon when the pod started: they stay. */
export function validatePodAnnotationsUpdate(
  annotations: ObjectMeta['annotations'],
  old: ObjectMeta['annotations'],
  spec: PodSpec,
  path: string,
): readonly FieldError[] {
  const refuse = (key: string, action: string): readonly FieldError[] => [
    ...(key.startsWith(APPARMOR_PREFIX)
      ? [forbiddenField(`${path}[${key}]`, `may not ${action} AppArmor annotations`)]
      : []),
    ...(key === MIRROR_POD_ANNOTATION
      ? [forbiddenField(`${path}[${key}]`, `may not ${action} mirror pod annotation`)]
      : []),
  ];
  const before = old ?? {};
  const after = annotations ?? {};
  return [
    ...Object.keys(before).flatMap((key) => (after[key] === before[key] ? [] : refuse(key, 'remove or update'))),
    ...Object.keys(after).flatMap((key) => (Object.hasOwn(before, key) ? [] : refuse(key, 'add'))),
    ...validatePodAnnotations(annotations, spec, path),
  ];
}
