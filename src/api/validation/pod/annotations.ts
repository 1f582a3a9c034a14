import { forbiddenField, invalid, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { ObjectMeta } from '../../object';
import { keysOf } from '../../parts';
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
  const names = new Set(named.map(({ name }) => name));
  return checkEach(keysOf(annotations), (key) => {
    if (!isApparmorAnnotation(key)) return [];
    const profile = annotations[key] as string;
    const field = `${path}[${key}]`;
    const container = key.slice(APPARMOR_PREFIX.length);
    const problem = apparmorProblem(profile);
    return [
      ...(names.has(container) ? [] : [invalid(field, container, 'container not found')]),
      ...(problem === undefined ? [] : [invalid(field, profile, problem)]),
    ];
  });
}

const DELETION_COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const INTEGER = /^(0|[1-9][0-9]*|-[0-9]+)$/;
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** With the gate PodDeletionCost: what it costs to lose the pod, for controllers that have to choose one. */
export function validateDeletionCost(annotations: ObjectMeta['annotations'], path: string): readonly FieldError[] {
  const cost = annotations?.[DELETION_COST_ANNOTATION];
  if (cost === undefined) return [];
  const isCost = INTEGER.test(cost) && Number(cost) >= INT32.min && Number(cost) <= INT32.max;
  return isCost ? [] : [invalid(`${path}[${DELETION_COST_ANNOTATION}]`, cost, 'must be a 32bit integer')];
}

/** Whether the annotation names the AppArmor profile of a container. */
export function isApparmorAnnotation(key: string): boolean {
  return key.startsWith(APPARMOR_PREFIX);
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
    ...(isApparmorAnnotation(key) ? [forbiddenField(`${path}[${key}]`, `may not ${action} AppArmor annotations`)] : []),
    ...(key === MIRROR_POD_ANNOTATION
      ? [forbiddenField(`${path}[${key}]`, `may not ${action} mirror pod annotation`)]
      : []),
  ];
  const before = old ?? {};
  const after = annotations ?? {};
  return [
    ...checkEach(keysOf(before), (key) => (after[key] === before[key] ? [] : refuse(key, 'remove or update'))),
    ...checkEach(keysOf(after), (key) => (Object.hasOwn(before, key) ? [] : refuse(key, 'add'))),
    ...validatePodAnnotations(annotations, spec, path),
  ];
}
