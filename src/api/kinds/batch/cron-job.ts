import { ageOf } from '../../table/age';
import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { selectorColumn, templateColumns } from '../../table/workload-columns';
import type { KubeObject } from '../../object';
import { validateCronJob, validateCronJobSpec } from '../../validation/cron-job';
import { defineKind } from '../define-kind';
import { listAt, stringAt, valueAt } from '../field-values';
import { keepSpec, specStrategy } from '../strategies';
import { statusSubresource } from '../subresources';
import { defaultCronJob } from './job-defaults';

function suspended(cronJob: KubeObject): string {
  const suspend = valueAt(cronJob, 'spec', 'suspend');
  return typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>';
}

function lastSchedule(cronJob: KubeObject, now: number): string {
  const time = stringAt(cronJob, 'status', 'lastScheduleTime');
  return time === '' ? '<none>' : ageOf(time, now);
}

/** Accepted, and matches the empty value only. */
const successful = { 'status.successful': () => '' };

export const cronJob = defineKind({
  group: 'batch',
  kind: 'CronJob',
  resource: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  metadataOnUpdate: ['change'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.21', removed: '1.25', replacement: 'batch/v1 CronJob' },
      selectableFields: successful,
      defaultGarbageCollection: 'orphan',
    },
    { version: 'v2alpha1', selectableFields: successful, defaultGarbageCollection: 'orphan' },
  ],
  storageVersion: 'v1beta1',
  applyDefaults: defaultCronJob,
  strategy: { ...specStrategy(), validateCreate: validateCronJob, validateUpdate: validateCronJobSpec },
  subresources: [statusSubresource({ prepareForUpdate: keepSpec, metadataOnUpdate: [] })],
  selectableFields: successful,
  unknownFieldLabel: (label) => `field label ${JSON.stringify(label)} not supported for "CronJob"`,
  table: tableOf([
    nameColumn,
    column('Schedule', 'When jobs are made.', (object) => stringAt(object, 'spec', 'schedule')),
    column('Suspend', 'Whether making jobs is suspended.', suspended, { type: 'boolean' }),
    column('Active', 'How many jobs are running.', (object) => listAt(object, 'status', 'active').length, {
      type: 'integer',
    }),
    column('Last Schedule', 'The time since a job was last made.', lastSchedule),
    ageColumn,
    ...templateColumns('spec', 'jobTemplate', 'spec', 'template'),
    selectorColumn('spec', 'jobTemplate', 'spec', 'selector'),
  ]),
});
