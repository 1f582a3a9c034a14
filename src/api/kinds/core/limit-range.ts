import { nameAndCreationTable } from '../../table/table';
import type { KubeObject } from '../../object';
import { validateLimitRange } from '../../validation/limit-range';
import { defineKind } from '../define-kind';
import { isPlainMap, listAt, mapAt, stringAt } from '../field-values';
import { emptyAsNull, withFields } from '../strategies';

/** Of containers: without a default limit the maximum is it, without a default request the default limit or minimum. */
function defaultItem(item: unknown): unknown {
  if (!isPlainMap(item) || stringAt(item, 'type') !== 'Container') return item;
  const limits = { ...mapAt(item, 'max'), ...mapAt(item, 'default') };
  const requests = { ...mapAt(item, 'min'), ...limits, ...mapAt(item, 'defaultRequest') };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

function defaultLimitRange(object: KubeObject): KubeObject {
  const limits = listAt(object, 'spec', 'limits');
  return limits.length === 0 ? object : withFields(object, 'spec', { limits: limits.map(defaultItem) });
}

const prepare = emptyAsNull('spec.limits');

export const limitRange = defineKind({
  group: '',
  kind: 'LimitRange',
  resource: 'limitranges',
  shortNames: ['limits'],
  namespaced: true,
  metadataOnUpdate: ['own'],
  versions: ['v1'],
  applyDefaults: defaultLimitRange,
  strategy: {
    prepareForCreate: prepare,
    prepareForUpdate: prepare,
    validateCreate: validateLimitRange,
    validateUpdate: validateLimitRange,
  },
  namedWhenNameless: true,
  allowCreateOnUpdate: true,
  table: nameAndCreationTable,
});
