import type { Field, ListTypeRef, StructType, TypeRef } from '../schema/model';

/** A small kind with one field of every sort that merging tells apart. */

export const text: TypeRef = { kind: 'scalar', scalar: 'string' };
export const int: TypeRef = { kind: 'scalar', scalar: 'int32' };

export function struct(
  name: string,
  fields: Readonly<Record<string, TypeRef | Partial<Field>>>,
  extra: Partial<StructType> = {},
): StructType {
  const entries = Object.entries(fields).map(([fieldName, given]): [string, Field] => {
    const field: Partial<Field> = 'kind' in given ? { type: given } : given;
    return [
      fieldName,
      {
        name: fieldName,
        type: text,
        pointer: false,
        always: false,
        required: false,
        retainKeys: false,
        description: '',
        ...field,
      },
    ];
  });
  return { kind: 'struct', name, description: '', fields: new Map(entries), wire: [], isKind: false, ...extra };
}

export function list(items: TypeRef, extra: Partial<ListTypeRef> = {}): ListTypeRef {
  return { kind: 'list', items, ...extra };
}

export const metadata = struct('meta', {
  name: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: int,
  labels: { type: { kind: 'map', values: text } },
  annotations: { type: { kind: 'map', values: text } },
  finalizers: list(text, { patchStrategy: 'merge' }),
  managedFields: list({ kind: 'any' }),
});

const port = struct('port', { port: int, protocol: { type: text, defaultValue: 'TCP' }, name: text });

const item = struct('item', {
  name: text,
  value: text,
  ports: list(port, {
    listType: 'map',
    listMapKeys: ['port', 'protocol'],
    patchStrategy: 'merge',
    patchMergeKey: 'port',
  }),
  source: { type: struct('source', { a: text, b: text }), pointer: true },
});

const spec = struct('spec', {
  replicas: { type: int, pointer: true },
  text,
  items: list(item, { patchStrategy: 'merge', patchMergeKey: 'name' }),
  tags: list(text, { listType: 'set', patchStrategy: 'merge' }),
  args: list(text),
  options: { type: { kind: 'map', values: text } },
  selector: struct('selector', { a: text, b: text }, { mapType: 'atomic' }),
  strategy: { type: struct('strategy', { type: text, rolling: text, recreate: text }), retainKeys: true },
});

export const widget = struct(
  'Widget',
  {
    metadata: { type: metadata, always: true },
    spec: { type: spec, always: true },
    status: {
      type: struct('status', { phase: text, conditions: list(item, { listType: 'map', listMapKeys: ['name'] }) }),
      always: true,
    },
  },
  { isKind: true },
);

export const widgetKind = { group: 'example.com', version: 'v1', kind: 'Widget' };

/** A custom resource without a schema. */
export const freeform = struct(
  'Free',
  { metadata: { type: metadata, always: false } },
  { isKind: true, preserveUnknownFields: true },
);
export const freeformKind = { group: 'example.com', version: 'v1', kind: 'Free' };
