import { ageOf, humanDuration } from '../../table/age';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { selectorColumn, templateColumns } from '../../table/workload-columns';
import type { KubeObject } from '../../object';
import { validateJob, validateJobStatusUpdate, validateJobUpdate } from '../../validation/job';
import { defineKind } from '../define-kind';
import { numberAt, stringAt, valueAt } from '../field-values';
import { keepSpec, keepStatus, resetStatus } from '../strategies';
import { statusSubresource } from '../subresources';
import { defaultJob, labelLikeTemplate } from './job-defaults';
import { generateSelector } from './job-selector';

/** Of jobs/status; the labels that a job without any gets are those of the template that stands. */
function keepJobSpec(job: KubeObject, old: KubeObject): KubeObject {
  return labelLikeTemplate(keepSpec(job, old));
}

function completions(job: KubeObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded');
  const wanted = valueAt(job, 'spec', 'completions');
  if (typeof wanted === 'number') return `${succeeded}/${wanted}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration(job: KubeObject, now: number): string {
  const started = stringAt(job, 'status', 'startTime');
  const completed = stringAt(job, 'status', 'completionTime');
  if (started === '') return '';
  return completed === '' ? ageOf(started, now) : humanDuration(Date.parse(completed) - Date.parse(started));
}

const withoutStatus = resetStatus();

export const job = defineKind({
  group: 'batch',
  kind: 'Job',
  resource: 'jobs',
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  applyDefaults: defaultJob,
  strategy: {
    prepareForCreate: (object) => labelLikeTemplate(generateSelector(withoutStatus(object))),
    prepareForUpdate: keepStatus,
    validateCreate: validateJob,
    validateUpdate: validateJobUpdate,
  },
  subresources: [statusSubresource({ prepareForUpdate: keepJobSpec, validateUpdate: validateJobStatusUpdate })],
  selectableFields: { 'status.successful': (object) => String(numberAt(object, 'status', 'succeeded')) },
  unknownFieldLabel: (label) => `field label ${JSON.stringify(label)} not supported for batchv1.Job`,
  defaultGarbageCollection: 'orphan',
  table: tableOf([
    nameColumn,
    column('Completions', 'How many pods succeeded, of those wanted.', completions),
    column('Duration', 'How long the job took, or has been running.', duration),
    ageColumn,
    ...templateColumns('spec', 'template'),
    selectorColumn('spec', 'selector'),
  ]),
});
