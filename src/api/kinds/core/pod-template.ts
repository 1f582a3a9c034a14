import { templateColumns } from '../../table/workload-columns';
import { longColumn, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import type { FieldError } from '../../errors/field-error';
import { validatePodTemplate } from '../../validation/pod-template';
import { defineKind } from '../define-kind';
import { mapAt } from '../field-values';
import { labelsCell } from '../label-selector-text';
import { defaultTemplateAt } from '../template-defaults';

function validateTemplate(object: KubeObject): readonly FieldError[] {
  return validatePodTemplate(mapAt(object, 'template'), 'template');
}

export const podTemplate = defineKind({
  group: '',
  kind: 'PodTemplate',
  resource: 'podtemplates',
  namespaced: true,
  metadataOnUpdate: ['change'],
  versions: ['v1'],
  applyDefaults: (object) => defaultTemplateAt(object, 'template'),
  strategy: { validateCreate: validateTemplate, validateUpdate: validateTemplate },
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    // Here the containers and images are shown always.
    ...templateColumns('template').map((definition) => ({ ...definition, priority: 0 })),
    longColumn('Pod Labels', 'The labels of the pods made from the template.', (object) =>
      labelsCell(mapAt(object, 'template', 'metadata', 'labels')),
    ),
  ]),
});
