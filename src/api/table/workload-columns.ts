import { listAt, mapAt, stringAt, valueAt } from '../kinds/field-values';
import { labelSelectorCell, labelsCell } from '../kinds/label-selector-text';
import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import { longColumn, wideColumn, type Column } from './table';

/** The wide columns of every kind that has a pod template: its containers, their images, and its selector. */
export function templateColumns(...templatePath: readonly string[]): readonly Column[] {
  const containers = [...templatePath, 'spec', 'containers'];
  const joined = (field: string) => (object: unknown) =>
    listAt(object, ...containers)
      .map((container) => stringAt(container, field))
      .join(',');
  return [
    wideColumn('Containers', 'The names of the containers in the pod template.', joined('name')),
    wideColumn('Images', 'The images of the containers in the pod template.', joined('image')),
  ];
}

function wideSelectorColumn(cell: (object: KubeObject) => Steps<string>): Column {
  return longColumn('Selector', 'The labels by which pods are selected.', cell, { priority: 1 });
}

/** The wide column of kinds that select pods by a label selector. */
export function selectorColumn(...path: readonly string[]): Column {
  return wideSelectorColumn((object) => labelSelectorCell(valueAt(object, ...path)));
}

/** The wide column of kinds whose selector is a map of labels. */
export function plainSelectorColumn(...path: readonly string[]): Column {
  return wideSelectorColumn((object) => labelsCell(mapAt(object, ...path)));
}
