import type { StatusError } from '../errors/status-error';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object';
import type { StructType } from '../schema/model';
import { apply, trackUpdate, type ApplyOptions, type UpdateOptions } from './field-manager';
import { setOf } from './field-set';
import { equalApartFromTimes } from './managed-fields';
import { freeform, freeformKind, list, metadata, struct, text, widget, widgetKind } from './merge-model.fixture';

let clock = 0;
/** Each write happens a second after the one before. */
function tick(): string {
  return new Date(Date.UTC(2020, 0, 1, 0, 0, clock++)).toISOString().replace('.000Z', 'Z');
}

function object(content: JsonObject, meta: JsonObject = {}): KubeObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', uid: 'u', ...meta },
    status: {},
    ...content,
  };
}

function applied(content: JsonObject, meta: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', ...meta }, ...content };
}

function update(
  live: KubeObject | undefined,
  next: KubeObject,
  manager: string,
  more: Partial<UpdateOptions> = {},
): KubeObject {
  return trackUpdate({ type: widget, gvk: widgetKind, live, object: next, manager, now: tick(), ...more });
}

function applyTo(
  live: KubeObject | undefined,
  body: JsonObject,
  manager: string,
  more: Partial<ApplyOptions> = {},
): KubeObject {
  return apply({ type: widget, gvk: widgetKind, live, applied: body, manager, now: tick(), force: false, ...more })
    .object;
}

function fields(target: KubeObject): Record<string, unknown> {
  const entries = target.metadata.managedFields ?? [];
  return Object.fromEntries(entries.map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]));
}

function entryOf(target: KubeObject, manager: string): ManagedFieldsEntry | undefined {
  return target.metadata.managedFields?.find((entry) => entry.manager === manager);
}

function failure(action: () => unknown): StatusError['status'] {
  try {
    action();
  } catch (error) {
    return (error as StatusError).status;
  }
  throw new Error('expected a failure');
}

describe('writes other than apply', () => {
  const created = update(
    undefined,
    object({ spec: { replicas: 1, options: { a: '1' } } }, { labels: { l: '1' } }),
    'c',
  );

  it('own what a create sets, but not what identifies the object or is always there', () => {
    expect(created.metadata.managedFields).toEqual([
      {
        manager: 'c',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        time: expect.stringMatching(/Z$/),
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
          'f:spec': { 'f:options': { '.': {}, 'f:a': {} }, 'f:replicas': {} },
        },
      },
    ]);
  });

  it('take the fields that they change or add from others', () => {
    const next = update(created, { ...created, spec: { replicas: 2, text: 'x', options: { a: '1' } } }, 'u');
    expect(fields(next)).toEqual({
      'c Update': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
        'f:spec': { 'f:options': { '.': {}, 'f:a': {} } },
      },
      'u Update': { 'f:spec': { 'f:replicas': {}, 'f:text': {} } },
    });
  });

  it('take nothing for what they only remove', () => {
    const next = update(created, { ...created, spec: { replicas: 1 } }, 'u');
    expect(fields(next)).toEqual({
      'c Update': { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:spec': { 'f:replicas': {} } },
    });
    expect(entryOf(next, 'c')?.time).toBe(entryOf(created, 'c')?.time);
  });

  it('change no entry when they change nothing', () => {
    const { managedFields: _, ...meta } = created.metadata;
    expect(update(created, { ...created, metadata: meta }, 'u').metadata.managedFields).toBe(
      created.metadata.managedFields,
    );
    expect(update(created, created, 'c')).toBe(created);
  });

  it('renew the time of an entry that takes a field again', () => {
    const next = update(created, { ...created, spec: { replicas: 5, options: { a: '1' } } }, 'c');
    expect(fields(next)).toEqual(fields(created));
    expect(entryOf(next, 'c')?.time).not.toBe(entryOf(created, 'c')?.time);
  });

  it('are recorded as unknown without a name, and apart through a subresource', () => {
    const unnamed = update(created, { ...created, spec: { ...(created['spec'] as object), text: 'x' } }, '');
    expect(entryOf(unnamed, 'unknown')).toBeDefined();
    const status = update(created, { ...created, status: { phase: 'x' } }, 'c', { subresource: 'status' });
    expect(status.metadata.managedFields).toHaveLength(2);
    expect(status.metadata.managedFields?.[1]).toMatchObject({
      manager: 'c',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:phase': {} } },
    });
  });

  it('do not record fields that the endpoint resets', () => {
    const next = update(undefined, object({ status: { phase: 'x' }, spec: { text: 'a' } }), 'c', {
      ignored: setOf(['f:status']),
    });
    expect(fields(next)).toEqual({ 'c Update': { 'f:spec': { 'f:text': {} } } });
  });

  it('drop all managed fields when the client sends one empty entry', () => {
    expect(
      update(created, { ...created, metadata: { ...created.metadata, managedFields: [{}] } }, 'u').metadata,
    ).not.toHaveProperty('managedFields');
  });

  it('reset first and own the other changes when both come together', () => {
    const next = update(
      created,
      { ...created, spec: { replicas: 7 }, metadata: { ...created.metadata, managedFields: [{}] } },
      'u',
    );
    expect(fields(next)).toEqual({ 'u Update': { 'f:spec': { 'f:replicas': {} } } });
  });

  it.each<[string, ManagedFieldsEntry[]]>([
    ['an empty list', []],
    ['entries that cannot be read', [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsV1: { bad: {} } }]],
  ])('keep the stored managed fields when the client sends %s', (_, managedFields) => {
    const next = update(created, { ...created, metadata: { ...created.metadata, managedFields } }, 'u');
    expect(fields(next)).toEqual(fields(created));
  });

  it('accept entries that a client wrote by hand', () => {
    const managedFields: ManagedFieldsEntry[] = [
      { manager: 'hand', operation: 'Update', apiVersion: 'example.com/v1', fieldsV1: { 'f:spec': { 'f:text': {} } } },
    ];
    expect(fields(update(created, { ...created, metadata: { ...created.metadata, managedFields } }, 'u'))).toEqual({
      'hand Update': { 'f:spec': { 'f:text': {} } },
    });
  });

  it('leave an object without managed fields as it is', () => {
    const bare = object({ spec: { replicas: 1 } });
    expect(update(bare, { ...bare, spec: { replicas: 2 } }, 'u').metadata).not.toHaveProperty('managedFields');
  });

  it('forget what was recorded when the object does not fit its type', () => {
    const odd = update(created, { ...created, spec: { bogus: 1 } }, 'u');
    expect(odd.metadata.managedFields).toBeUndefined();
  });

  it('keep ten updaters apart and merge the oldest of the others', () => {
    let live = update(undefined, object({ spec: { options: { k0: '0' } } }), 'u0');
    for (let i = 1; i <= 11; i++) {
      const options = { ...(live['spec'] as { options: object }).options, [`k${i}`]: '1' };
      live = update(live, { ...live, spec: { options } }, `u${i}`);
    }
    const managers = live.metadata.managedFields?.map((entry) => entry.manager);
    expect(managers).toEqual(['ancient-changes', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9', 'u10', 'u11']);
    expect(fields(live)['ancient-changes Update']).toEqual({
      'f:spec': { 'f:options': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } },
    });
  });
});

describe('apply', () => {
  const first = applyTo(
    undefined,
    applied({ spec: { replicas: 1, options: { x: '1', y: '1' } } }, { labels: { l: '1' } }),
    'm1',
  );

  it('creates, and owns exactly what was applied', () => {
    expect(first).toMatchObject({
      metadata: { name: 'w', labels: { l: '1' } },
      spec: { replicas: 1, options: { x: '1', y: '1' } },
      status: {},
    });
    expect(fields(first)).toEqual({
      'm1 Apply': {
        'f:metadata': { 'f:labels': { 'f:l': {} } },
        'f:spec': { 'f:options': { 'f:x': {}, 'f:y': {} }, 'f:replicas': {} },
      },
    });
  });

  it('that repeats itself changes nothing', () => {
    const again = apply({
      type: widget,
      gvk: widgetKind,
      live: first,
      applied: applied({ spec: { replicas: 1, options: { x: '1', y: '1' } } }, { labels: { l: '1' } }),
      manager: 'm1',
      now: tick(),
      force: false,
    });
    expect(again).toEqual({ object: first, changed: false });
    expect(again.object).toBe(first);
  });

  it('refuses one conflict', () => {
    expect(failure(() => applyTo(first, applied({ spec: { options: { x: '2' } } }), 'm2'))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "m1": .spec.options.x',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.options.x' }],
      },
    });
  });

  it('lists conflicts by manager, and names the version of updaters', () => {
    const updated = update(first, { ...first, spec: { replicas: 4, options: { x: '1', y: '1' } } }, 'u');
    expect(
      failure(() => applyTo(updated, applied({ spec: { replicas: 9, options: { x: '9', y: '9' } } }), 'm2')).message,
    ).toBe(
      'Apply failed with 3 conflicts: conflicts with "m1":\n- .spec.options.x\n- .spec.options.y\nconflicts with "u" using example.com/v1:\n- .spec.replicas',
    );
  });

  it('with force takes the fields from their owners', () => {
    const forced = applyTo(first, applied({ spec: { options: { x: '2' } } }), 'm2', { force: true });
    expect(forced['spec']).toMatchObject({ options: { x: '2', y: '1' } });
    expect(fields(forced)).toEqual({
      'm1 Apply': {
        'f:metadata': { 'f:labels': { 'f:l': {} } },
        'f:spec': { 'f:options': { 'f:y': {} }, 'f:replicas': {} },
      },
      'm2 Apply': { 'f:spec': { 'f:options': { 'f:x': {} } } },
    });
  });

  it('shares a field whose value agrees, and leaves it when the other owner goes', () => {
    const shared = applyTo(first, applied({ spec: { options: { x: '1' } } }), 'm2');
    expect(fields(shared)['m2 Apply']).toEqual({ 'f:spec': { 'f:options': { 'f:x': {} } } });
    expect(entryOf(shared, 'm2')?.time).toBeDefined();
    const left = applyTo(shared, applied({}), 'm1');
    expect(left['spec']).toEqual({ options: { x: '1' } });
    expect(fields(left)).toEqual({ 'm2 Apply': { 'f:spec': { 'f:options': { 'f:x': {} } } } });
  });

  it('takes an item away with what an updater owns in it, and keeps items of others', () => {
    const item = applyTo(first, applied({ spec: { items: [{ name: 'a', value: '1' }] } }), 'm2');
    const touched = update(
      item,
      {
        ...item,
        spec: { ...(item['spec'] as object), items: [{ name: 'a', value: '1', ports: [{ port: 1 }] }, { name: 'b' }] },
      },
      'u',
    );
    const gone = applyTo(touched, applied({}), 'm2');
    expect((gone['spec'] as JsonObject)['items']).toEqual([{ name: 'b' }]);
    expect(fields(gone)['u Update']).toEqual({
      'f:spec': { 'f:items': { 'k:{"name":"b"}': { '.': {}, 'f:name': {} } } },
    });
  });

  it('leaves fields that the applier never owned', () => {
    const updated = update(first, { ...first, spec: { ...(first['spec'] as object), text: 'theirs' } }, 'u');
    expect(applyTo(updated, applied({}), 'm1')['spec']).toEqual({ text: 'theirs' });
  });

  it.each<[JsonObject, string]>([
    [
      { ...applied({}), apiVersion: 'v2' },
      'Incorrect version specified in apply patch. Specified patch version: v2, expected: example.com/v1',
    ],
    [
      { kind: 'Widget', metadata: {} },
      'Incorrect version specified in apply patch. Specified patch version: , expected: example.com/v1',
    ],
    [applied({}, { managedFields: [{}] }), 'metadata.managedFields must be nil'],
    [
      applied({ bogus: 1 }, { namespace: 'n' }),
      'failed to create typed patch object (n/w; example.com/v1, Kind=Widget): .bogus: field not declared in schema',
    ],
    [
      { ...applied({}), kind: 'Other' },
      'failed to create typed patch object (/w; example.com/v1, Kind=Other): no corresponding type for example.com/v1, Kind=Other',
    ],
  ])('refuses the body %j', (body, message) => {
    expect(failure(() => applyTo(first, body, 'm1'))).toMatchObject({ code: 400, message });
  });

  it('gives what was there before the first apply to a manager of that name', () => {
    const bare = object({ spec: { options: { a: '1' } } });
    const next = applyTo(bare, applied({ spec: { options: { a: '1', n: '1' } } }), 'm1');
    expect(fields(next)).toEqual({
      'm1 Apply': { 'f:spec': { 'f:options': { 'f:a': {}, 'f:n': {} } } },
      'before-first-apply Update': { 'f:spec': { 'f:options': { '.': {}, 'f:a': {} } } },
    });
    expect(failure(() => applyTo(bare, applied({ spec: { options: { a: '2' } } }), 'm1')).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.options.a',
    );
  });
});

describe('apply by kubectl after client-side apply', () => {
  const LAST = 'kubectl.kubernetes.io/last-applied-configuration';
  const lastApplied = JSON.stringify(applied({ spec: { options: { a: '1', b: '2' } } }));
  const live = update(
    undefined,
    object({ spec: { options: { a: '1', b: '2' } } }, { annotations: { [LAST]: lastApplied } }),
    'kubectl-client-side-apply',
  );

  it('takes over fields that still have the value that was applied', () => {
    const next = applyTo(live, applied({ spec: { options: { a: '3' } } }), 'kubectl');
    expect(next['spec']).toEqual({ options: { a: '3', b: '2' } });
    expect(next.metadata.annotations?.[LAST]).toBe(
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"options":{"a":"3"}}}\n',
    );
  });

  it('conflicts where somebody edited since', () => {
    const edited = update(live, { ...live, spec: { options: { a: '7', b: '2' } } }, 'ed');
    expect(failure(() => applyTo(edited, applied({ spec: { options: { a: '9', b: '9' } } }), 'kubectl')).message).toBe(
      'Apply failed with 1 conflict: conflict with "ed" using example.com/v1: .spec.options.a',
    );
  });

  it('conflicts for any other manager', () => {
    expect(failure(() => applyTo(live, applied({ spec: { options: { a: '9' } } }), 'other')).code).toBe(409);
  });
});

describe('several versions', () => {
  /** v2 calls `text` something else. */
  const widget2: StructType = struct(
    'Widget2',
    {
      metadata: { type: metadata, always: true },
      status: struct('status2', {}),
      spec: { type: struct('spec2', { title: text }), always: true },
    },
    { isKind: true },
  );
  const convert = (from: KubeObject, apiVersion: string): { type: StructType; object: KubeObject } | undefined => {
    if (apiVersion === 'example.com/v0') return undefined;
    const { spec = {}, ...rest } = from as KubeObject & { spec?: { text?: string; title?: string } };
    const value = spec.text ?? spec.title;
    const toFirst = apiVersion === 'example.com/v1';
    return {
      type: toFirst ? widget : widget2,
      object: { ...rest, apiVersion, spec: value === undefined ? {} : { [toFirst ? 'text' : 'title']: value } },
    };
  };
  const gvk2 = { ...widgetKind, version: 'v2' };
  const first = applyTo(undefined, applied({ spec: { text: 'a' } }), 'm1', { convert });
  const live2 = convert(first, 'example.com/v2')?.object as KubeObject;

  function applyInSecond(title: string | undefined, manager: string, force = false): KubeObject {
    const body = { ...applied({ spec: title === undefined ? {} : { title } }), apiVersion: 'example.com/v2' };
    return apply({ type: widget2, gvk: gvk2, live: live2, applied: body, manager, now: tick(), force, convert }).object;
  }

  it('keep their own field sets and conflict across versions', () => {
    expect(fields(applyInSecond('a', 'm2'))).toEqual({
      'm1 Apply': { 'f:spec': { 'f:text': {} } },
      'm2 Apply': { 'f:spec': { 'f:title': {} } },
    });
    expect(failure(() => applyInSecond('b', 'm2')).message).toBe(
      'Apply failed with 1 conflict: conflict with "m1": .spec.text',
    );
    expect(fields(applyInSecond('b', 'm2', true))).toEqual({ 'm2 Apply': { 'f:spec': { 'f:title': {} } } });
  });

  it('an applier may change its version and give up what it had in the other', () => {
    const next = applyInSecond(undefined, 'm1');
    expect(next['spec'] ?? {}).toEqual({});
    expect(next.metadata).not.toHaveProperty('managedFields');
  });

  it('a version that is no longer served is forgotten', () => {
    const old: ManagedFieldsEntry = {
      manager: 'old',
      operation: 'Update',
      apiVersion: 'example.com/v0',
      fieldsV1: { 'f:spec': { 'f:x': {} } },
    };
    const live = {
      ...first,
      metadata: { ...first.metadata, managedFields: [...(first.metadata.managedFields ?? []), old] },
    };
    expect(Object.keys(fields(update(live, { ...live, spec: { text: 'b' } }, 'u', { convert })))).toEqual(['u Update']);
  });
});

describe('changes of a schema', () => {
  const kindWith = (
    tags: StructType['fields'] extends ReadonlyMap<string, infer F> ? (F extends { type: infer T } ? T : never) : never,
  ): StructType =>
    struct(
      'Changing',
      { metadata: { type: metadata, always: true }, spec: struct('s', { tags, text }) },
      { isKind: true },
    );
  const set = kindWith(list(text, { listType: 'set' }));
  const atomic = kindWith(list(text));

  it('from a set to atomic give the whole value to the owners of entries', () => {
    const live = applyTo(undefined, applied({ spec: { tags: ['a'] } }), 'm1', { type: set });
    const next = applyTo(live, applied({ spec: { text: 'x' } }), 'm2', { type: atomic, custom: true });
    expect(fields(next)).toMatchObject({ 'm1 Apply': { 'f:spec': { 'f:tags': {} } } });
    expect(
      failure(() => applyTo(next, applied({ spec: { tags: ['b'] } }), 'm3', { type: atomic, custom: true })).code,
    ).toBe(409);
  });

  it('from atomic to a set give entries to nobody', () => {
    const live = applyTo(undefined, applied({ spec: { tags: ['a'] } }), 'm1', { type: atomic });
    const next = applyTo(live, applied({ spec: { tags: ['a', 'b'] } }), 'm2', { type: set, custom: true });
    expect(next['spec']).toEqual({ tags: ['a', 'b'] });
    expect(fields(next)).toMatchObject({ 'm1 Apply': { 'f:spec': { 'f:tags': {} } } });
  });

  it('cannot happen to built-in kinds, whose owners of a map own its keys', () => {
    const entry: ManagedFieldsEntry = {
      manager: 'c',
      operation: 'Update',
      apiVersion: 'example.com/v1',
      fieldsV1: { 'f:spec': { 'f:options': {} } },
    };
    const live = object({ spec: { options: { a: '1' } } }, { managedFields: [entry] as unknown as JsonObject[] });
    const next = update(live, { ...live, spec: { options: { a: '1', b: '2' } } }, 'u');
    expect(fields(next)).toEqual({
      'c Update': { 'f:spec': { 'f:options': { '.': {}, 'f:a': {} } } },
      'u Update': { 'f:spec': { 'f:options': { 'f:b': {} } } },
    });
  });
});

describe('custom resources without schema', () => {
  const free = (body: JsonObject, live: KubeObject | undefined, manager: string): KubeObject =>
    apply({
      type: freeform,
      gvk: freeformKind,
      live,
      applied: { apiVersion: 'example.com/v1', kind: 'Free', metadata: { name: 'f' }, ...body },
      manager,
      now: tick(),
      force: false,
      custom: true,
    }).object;

  it('are merged key by key, with atomic lists', () => {
    const first = free({ spec: { a: 1, list: [1], m: { k: 'v' } } }, undefined, 'm1');
    const second = free({ spec: { b: 2, m: { l: 'w' } } }, first, 'm2');
    expect(second['spec']).toEqual({ a: 1, list: [1], m: { k: 'v', l: 'w' }, b: 2 });
    expect(fields(second)['m2 Apply']).toEqual({ 'f:spec': { '.': {}, 'f:b': {}, 'f:m': { '.': {}, 'f:l': {} } } });
    expect(failure(() => free({ spec: { list: [2] } }, second, 'm3')).message).toBe(
      'Apply failed with 1 conflict: conflict with "m1": .spec.list',
    );
  });
});

describe('keyed lists with one key twice', () => {
  const twice = { spec: { items: [{ name: 'i' }, { name: 'i', value: 'b' }] } };

  it('are not tracked in what is created', () => {
    expect(update(undefined, object(twice), 'c').metadata.managedFields).toBeUndefined();
  });

  it('end the tracking when an update brings them', () => {
    const live = update(undefined, object({ spec: { text: 'a', items: [{ name: 'i' }] } }), 'c');
    const next = update(live, { ...live, ...twice }, 'u');
    expect(next.metadata.managedFields).toBeUndefined();
  });

  it('can be applied to', () => {
    const live = update(undefined, object(twice), 'c');
    const next = applyTo(live, applied({ spec: { text: 'a' } }), 'm');
    expect(fields(next)['m Apply']).toEqual({ 'f:spec': { 'f:text': {} } });
  });
});

describe('entries of custom resources', () => {
  it('are written with their keys in order', () => {
    const created = update(undefined, object({ spec: { text: 'a' } }), 'c', { custom: true });
    expect(Object.keys(entryOf(created, 'c') as object)).toEqual([
      'apiVersion',
      'fieldsType',
      'fieldsV1',
      'manager',
      'operation',
      'time',
    ]);
  });
});

describe('equalApartFromTimes', () => {
  const live = update(undefined, object({ spec: { text: 'a' } }), 'c');
  const entries = live.metadata.managedFields ?? [];

  it('looks at everything but the times', () => {
    const later = entries.map((entry) => ({ ...entry, time: '2030-01-01T00:00:00Z' }));
    expect(equalApartFromTimes(entries, later)).toBe(true);
    expect(
      equalApartFromTimes(
        entries,
        entries.map((entry) => ({ ...entry, manager: 'd' })),
      ),
    ).toBe(false);
    expect(equalApartFromTimes(entries, undefined)).toBe(false);
    expect(equalApartFromTimes(undefined, [])).toBe(true);
  });
});
