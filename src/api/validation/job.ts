import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { JobSpec, JobStatus } from '../schema/generated/batch-v1';
import { invalidLiteral, labelSelectorLiteral, stringMapLiteral } from './go-literal';
import { structLiteral, validateUnchanged } from './immutable';
import { checkSelected, checkUsable, validateLabelSelector } from './label-selector';
import { validateNonNegative } from './numbers';
import { validatePodTemplate } from './pod-template';

const RESTART_POLICIES = ['OnFailure', 'Never'];
const NOT_NEGATIVE = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
] as const;

function specOf(object: KubeObject): JobSpec {
  return object['spec'] ?? {};
}

function validateRestartPolicy(policy: string, field: string): readonly FieldError[] {
  // `Always` is what a template gets that says nothing: the rule names what it should have said.
  if (policy === '' || policy === 'Always') {
    return [required(field, `valid values: ${RESTART_POLICIES.map((value) => JSON.stringify(value)).join(', ')}`)];
  }
  return RESTART_POLICIES.includes(policy) ? [] : [notSupported(field, policy, RESTART_POLICIES)];
}

/** What jobs and the job templates of cron jobs have in common. */
export function validateJobTemplateSpec(spec: JobSpec, path: string): readonly FieldError[] {
  const { template = {} } = spec;
  return [
    ...NOT_NEGATIVE.flatMap((field) => validateNonNegative(spec[field], `${path}.${field}`)),
    ...validatePodTemplate(template, `${path}.template`),
    ...validateRestartPolicy(template.spec?.restartPolicy ?? '', `${path}.template.spec.restartPolicy`),
  ];
}

function validateSpec(spec: JobSpec): readonly FieldError[] {
  const { selector, template } = spec;
  const labels = template?.metadata?.labels;
  return [
    ...validateJobTemplateSpec(spec, 'spec'),
    ...(selector ? validateLabelSelector(selector, 'spec.selector') : [required('spec.selector', '')]),
    ...checkUsable(selector, (isUsable) =>
      isUsable
        ? checkSelected(selector, labels, () => [
            invalidLiteral(
              'spec.template.metadata.labels',
              stringMapLiteral(labels),
              '`selector` does not match template `labels`',
            ),
          ])
        : [],
    ),
  ];
}

function validateHasLabel(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
  wanted: string,
): readonly FieldError[] {
  const field = `spec.template.metadata.labels[${key}]`;
  const detail = `must be '${wanted}'`;
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (value === undefined) return [required(field, detail)];
  return value === wanted ? [] : [invalidLiteral(field, stringMapLiteral(labels), detail)];
}

/** Unless the client chose the selector, it is the server's, and the template has the labels that go with it. */
function validateGeneratedSelector(object: KubeObject): readonly FieldError[] {
  const { selector, manualSelector, template } = specOf(object);
  if (manualSelector === true || !selector) return [];
  const { uid = '', name = '' } = object.metadata;
  const labels = template?.metadata?.labels;
  const generated = { 'controller-uid': uid, 'job-name': name };
  return [
    ...(uid === '' ? [required('metadata.uid', '')] : []),
    ...validateHasLabel(labels, 'controller-uid', uid),
    ...validateHasLabel(labels, 'job-name', name),
    ...checkUsable(selector, (isUsable) =>
      isUsable
        ? checkSelected(selector, generated, () => [
            invalidLiteral('spec.selector', labelSelectorLiteral(selector), '`selector` not auto-generated'),
          ])
        : [],
    ),
  ];
}

/** All problems of a job's spec. */
export function validateJob(object: KubeObject): readonly FieldError[] {
  return [...validateGeneratedSelector(object), ...validateSpec(specOf(object))];
}

/** An update reports the problems of the spec twice; what the job's pods were made from cannot change. */
export function validateJobUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const was = specOf(old);
  const template = (): string => structLiteral('core.PodTemplateSpec', spec.template);
  return [
    ...validateJob(object),
    ...validateSpec(spec),
    ...validateUnchanged(spec.completions, was.completions, 'spec.completions'),
    ...validateUnchanged(spec.selector, was.selector, 'spec.selector', () => labelSelectorLiteral(spec.selector)),
    ...validateUnchanged(spec.template, was.template, 'spec.template', template),
  ];
}

export function validateJobStatusUpdate(object: KubeObject): readonly FieldError[] {
  const status = (object['status'] ?? {}) as JobStatus;
  return (['active', 'succeeded', 'failed'] as const).flatMap((field) =>
    (status[field] ?? 0) < 0 ? [invalid(`status.${field}`, status[field], 'must be greater than or equal to 0')] : [],
  );
}
