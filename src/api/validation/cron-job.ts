import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { CronJobSpec, JobTemplateSpec } from '../schema/generated/batch-v1';
import { checkLong } from './check-each';
import { cronScheduleProblem, cronScheduleSteps } from './cron-schedule';
import { invalidLiteral, labelSelectorLiteral } from './go-literal';
import { validateJobTemplateSpec } from './job';
import { validateNonNegative } from './numbers';

/** Shorter ones take less than a millisecond. */
const LONG_SCHEDULE = 2_000;
const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'];
/** The names of its jobs end in a dash and ten digits, and must fit into a label. */
const MAX_NAME_LENGTH = 52;

function validateSchedule(schedule: string, field: string): readonly FieldError[] {
  if (schedule === '') return [required(field, '')];
  const told = (problem: string | undefined): readonly FieldError[] =>
    problem === undefined ? [] : [invalid(field, schedule, problem)];
  if (schedule.length <= LONG_SCHEDULE) return told(cronScheduleProblem(schedule));
  return checkLong(function* () {
    return told(yield* cronScheduleSteps(schedule));
  });
}

function validateConcurrencyPolicy(policy: string, field: string): readonly FieldError[] {
  if (policy === '') return [required(field, '')];
  return CONCURRENCY_POLICIES.includes(policy) ? [] : [notSupported(field, policy, CONCURRENCY_POLICIES)];
}

/** The selector of each job is generated. */
function validateJobTemplate({ spec = {} }: JobTemplateSpec, path: string): readonly FieldError[] {
  const { selector, manualSelector } = spec;
  return [
    ...validateJobTemplateSpec(spec, `${path}.spec`),
    ...(selector
      ? [invalidLiteral(`${path}.spec.selector`, labelSelectorLiteral(selector), '`selector` will be auto-generated')]
      : []),
    ...(manualSelector === true ? [notSupported(`${path}.spec.manualSelector`, true, ['nil', 'false'])] : []),
  ];
}

/** All problems of a cron job's spec: also what an update checks. */
export function validateCronJobSpec(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as CronJobSpec;
  return [
    ...validateSchedule(spec.schedule ?? '', 'spec.schedule'),
    ...validateNonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...validateConcurrencyPolicy(spec.concurrencyPolicy ?? '', 'spec.concurrencyPolicy'),
    ...validateJobTemplate(spec.jobTemplate ?? {}, 'spec.jobTemplate'),
    ...validateNonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    ...validateNonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
  ];
}

export function validateCronJob(object: KubeObject): readonly FieldError[] {
  const { name = '' } = object.metadata;
  return [
    ...validateCronJobSpec(object),
    ...(name.length > MAX_NAME_LENGTH
      ? [invalid('metadata.name', name, `must be no more than ${MAX_NAME_LENGTH} characters`)]
      : []),
  ];
}
