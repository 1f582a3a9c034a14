import { loadBuiltinSchema } from '../schema/builtin-schema';
import * as plain from '../apply/field-manager';
import { mergeTypeOf } from '../apply/merge-type';
import { filledInParts } from '../fill-later';
import { defaultDeployment } from '../kinds/apps/workload-defaults';
import { defaultNode } from '../kinds/core/node-defaults';
import { defaultPod } from '../kinds/core/pod-defaults';
import { defaultReplicationController } from '../kinds/core/replication-controller-defaults';
import { mergeStringData } from '../kinds/core/secret-strategy';
import type { JsonObject, JsonValue, KubeObject } from '../object';
import { knownKeysOf, rememberKeys } from '../parts';
import type { StructType } from '../schema/model';
import { applyMergePatch } from './generated/patch/merge-patch';
import { applyJsonPatch } from './generated/patch/json-patch';
import { applyStrategicMergePatch } from './generated/patch/strategic-merge';
import { apply, trackUpdate } from './generated/apply/field-manager';
import { merge } from './generated/apply/merge-values';
import { take } from './both-forms.fixture';
import { ROUNDS_BETWEEN_PAUSES, type Steps } from './pace';

/** A round may read what it is about more than once. */
const READS_PER_STEP = 4 * ROUNDS_BETWEEN_PAUSES;
const COUNT = 4_000;

const numberedNames = Array.from({ length: COUNT }, (_, index) => `key-${index}`);

const pod = loadBuiltinSchema().kind('', 'v1', 'Pod') as StructType;
const configMap = loadBuiltinSchema().kind('', 'v1', 'ConfigMap') as StructType;

let reads = 0;

/** The same value, which counts what is read of it. */
function counted<T extends object>(value: T): T {
  return new Proxy(value, {
    get: (target, name): unknown => {
      reads += 1;
      return target[name as keyof T];
    },
  });
}

function numbered(make: (index: number) => JsonValue, from = 0): JsonValue {
  return counted(Array.from({ length: COUNT }, (_, index) => make(from + index)));
}

const data = (value: string): JsonValue =>
  counted(Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${(index * 7) % COUNT}`, value])));
const containers = (image: string): JsonValue => numbered((index) => ({ name: `c-${index}`, image }));
const finalizers = (from = 0): JsonValue => numbered((index) => `example.com/${(index * 7) % (2 * COUNT)}`, from);

function writing(type: StructType, kind: string) {
  return { type, gvk: { group: '', version: 'v1', kind }, now: '2026-01-01T00:00:00Z' };
}

function pods(image: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: containers(image) },
  };
}

function podWith(resources: JsonObject): KubeObject {
  return { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i', resources }] } };
}

function configMaps(value: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: data(value) };
}

function deployments(image: string): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {},
    spec: { template: { spec: { containers: containers(image) } } },
  };
}

function ofPod(live: KubeObject | undefined, object: KubeObject): Steps<unknown> {
  return trackUpdate({ ...writing(pod, 'Pod'), live, object, manager: 'me' });
}

function ofConfigMap(live: KubeObject | undefined, object: KubeObject): Steps<unknown> {
  return trackUpdate({ ...writing(configMap, 'ConfigMap'), live, object, manager: 'me' });
}

function owned(type: StructType, object: KubeObject): KubeObject {
  const { kind = '' } = object;
  return plain.trackUpdate({ ...writing(type, kind), live: undefined, object, manager: 'other' });
}

function applied(type: StructType, live: KubeObject | undefined, configuration: KubeObject): Steps<unknown> {
  const { kind = '' } = configuration;
  const body = configuration as unknown as JsonObject;
  return apply({ ...writing(type, kind), live, applied: body, manager: 'me', force: true });
}

const json = (object: KubeObject): JsonObject => object as unknown as JsonObject;
const small: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: { a: 'b' },
};

describe('no step goes over more of an object than a few elements', () => {
  it.each<[string, () => Steps<unknown>]>([
    ['the owners of new containers', () => ofPod(undefined, pods('a'))],
    ['the owners of changed containers', () => ofPod(owned(pod, pods('a')), pods('b'))],
    ['the owners of new keys', () => ofConfigMap(undefined, configMaps('a'))],
    ['the owners of changed keys', () => ofConfigMap(owned(configMap, configMaps('a')), configMaps('b'))],
    ['the owners of keys that go', () => ofConfigMap(owned(configMap, configMaps('a')), small)],
    ['a large configuration for a new object', () => applied(configMap, undefined, configMaps('a'))],
    [
      'a large configuration for others’ keys',
      () => applied(configMap, owned(configMap, configMaps('a')), configMaps('b')),
    ],
    ['a small configuration for a large object', () => applied(configMap, owned(configMap, configMaps('a')), small)],
    ['a merge patch of many keys', () => applyMergePatch(json(configMaps('a')), json(configMaps('b')))],
    ['a small merge patch of a large object', () => applyMergePatch(json(configMaps('a')), { data: { a: 'b' } })],
    [
      'a strategic patch of many containers',
      () => applyStrategicMergePatch(pod, json(pods('a')), { spec: { containers: containers('b') } }),
    ],
    [
      'a small strategic patch of many containers',
      () => applyStrategicMergePatch(pod, json(pods('a')), { spec: { containers: [{ name: 'c-7', image: 'b' }] } }),
    ],
    [
      'a strategic patch of many finalizers',
      () =>
        applyStrategicMergePatch(
          pod,
          { metadata: { finalizers: finalizers() } },
          { metadata: { finalizers: finalizers(COUNT / 2) } },
        ),
    ],
    [
      'a small JSON patch of a large object',
      () => applyJsonPatch(json(configMaps('a')), [{ op: 'add', path: '/data', value: data('b') }]),
    ],
    [
      'a copy of a large part',
      () => applyJsonPatch(json(configMaps('a')), [{ op: 'copy', from: '/data', path: '/more' }]),
    ],
    ['the defaults of many containers', () => filledInParts(() => defaultPod(pods('a')))],
    ['the defaults of a template with many containers', () => filledInParts(() => defaultDeployment(deployments('a')))],
    ['what a node has', () => filledInParts(() => defaultNode({ metadata: {}, status: { capacity: data('1') } }))],
    ['the texts of a secret', () => filledInParts(() => mergeStringData({ metadata: {}, stringData: data('a') }))],
  ])('%s', (_, begin) => {
    const steps = begin();
    let most = 0;
    for (let done: boolean | undefined = false; done !== true;) {
      reads = 0;
      done = steps.next().done;
      most = Math.max(most, reads);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(READS_PER_STEP);
  });

  it('the requests of many limits are made in steps', () => {
    const { result, pauses } = take(
      filledInParts(() => defaultPod(podWith({ limits: data('1'), requests: { z: '2' } }))),
    );
    expect(pauses).toBeGreaterThan(COUNT);
    expect(result).toEqual(defaultPod(podWith({ limits: data('1'), requests: { z: '2' } })));
  });

  it('what many managers own is read and written in steps', () => {
    const managedFields = Array.from({ length: 2_000 }, (_, index) => ({
      manager: `m-${index}`,
      operation: 'Apply' as const,
      apiVersion: 'v1',
      time: '2020-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k-${index}`]: {} } },
    }));
    const object = { ...small, metadata: { name: 'a', managedFields } } as KubeObject;
    const { pauses } = take(ofConfigMap(small, object));
    expect(pauses).toBeGreaterThan((4 * managedFields.length) / ROUNDS_BETWEEN_PAUSES);
  });
});

test('the keys of what is made of texts of a secret are known to whoever looks at it afterwards', () => {
  const stringData = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'v']));
  const made = take(filledInParts(() => mergeStringData({ metadata: {}, stringData }))).result['data'] as object;
  expect(knownKeysOf(made)).toEqual(Object.keys(made));
});

test('the defaults of a replication controller do not list the keys of labels that are known', () => {
  let listings = 0;
  const ownKeys = (target: object): (string | symbol)[] => {
    listings += 1;
    return Reflect.ownKeys(target);
  };
  const labels = new Proxy({ a: 'b' }, { ownKeys });
  rememberKeys(labels, numberedNames);
  const template = { metadata: { labels }, spec: { containers: [] } };
  defaultReplicationController({ metadata: { labels }, spec: { selector: labels, template } } as KubeObject);
  expect(listings).toBe(0);
});

describe('a JSON patch does not list the keys of a large map that are known', () => {
  const many = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'v']));
  const known = (): { readonly map: JsonObject; readonly listed: () => number } => {
    let listings = 0;
    const ownKeys = (target: object): (string | symbol)[] => {
      listings += 1;
      return Reflect.ownKeys(target);
    };
    const map: JsonObject = new Proxy<JsonObject>({ ...many }, { ownKeys });
    rememberKeys(map, Object.keys(many));
    return { map, listed: () => listings };
  };

  it.each<[string, (value: JsonObject) => JsonObject]>([
    ['in a test', (value) => ({ op: 'test', path: '/data', value })],
    ['that it adds', (value) => ({ op: 'add', path: '/data', value })],
    ['that it replaces', (value) => ({ op: 'replace', path: '/data', value })],
  ])('%s', (_, operation) => {
    const [live, sent] = [known(), known()];
    const { result } = take(applyJsonPatch({ data: live.map }, [operation(sent.map)]));
    expect([live.listed(), sent.listed()]).toEqual([0, 0]);
    expect(result).toEqual({ data: many });
  });
});

describe('a pointer of a JSON patch', () => {
  const patched = (path: string) => take(applyJsonPatch({ data: {} }, [{ op: 'add', path, value: 'a' }]));

  it('with many escapes is read a part at a time', () => {
    const { result, pauses } = patched(`/data/${'~1~0~01'.repeat(20_000)}`);
    expect(result).toEqual({ data: { ['/~~1'.repeat(20_000)]: 'a' } });
    expect(pauses).toBeGreaterThan(5);
  });

  it.each(['~', 'a~', '~~1', '~2', 'a~01b'])('stands for the same however %j is cut', (token) => {
    const long = 'x'.repeat(255);
    const plain = token.replace(/~1/g, '/').replace(/~0/g, '~');
    expect(patched(`/data/${long}${token}`).result).toEqual({ data: { [long + plain]: 'a' } });
  });

  it('of more keys than values nest is refused after as many', () => {
    const split = jest.spyOn(String.prototype, 'split');
    try {
      expect(() => patched('/a'.repeat(100_000))).toThrow('the server rejected our request due to an error');
      const longest = Math.max(...split.mock.results.map(({ value }) => (value as readonly string[]).length));
      expect(longest).toBeGreaterThan(999);
      expect(longest).toBeLessThan(1_010);
    } finally {
      split.mockRestore();
    }
  });
});

test('the fields of a map that is owned itself are known to whoever looks at the owners afterwards', () => {
  const many = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'v']));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: many } as KubeObject;
  const { result } = take(ofConfigMap(undefined, object));
  const [owner] = (result as KubeObject).metadata.managedFields ?? [];
  const fields = (owner?.fieldsV1 as Record<string, object>)['f:data'] as object;
  expect(knownKeysOf(fields)).toEqual(Object.keys(fields));
});

describe('the keys of a large map that a patch has made are known to whoever looks at it afterwards', () => {
  const many = (from: number): JsonObject =>
    Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${from + index}`, 'v']));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: many(0) };
  const patch = { data: { ...many(COUNT / 2), 'key-0': null, 'key-1': 'w' } };

  it.each<[string, () => Steps<JsonValue | undefined>]>([
    ['a merge patch', () => applyMergePatch(object, patch)],
    ['a merge patch of what was not there', () => applyMergePatch({ metadata: {} }, patch)],
    ['a strategic merge patch', () => applyStrategicMergePatch(configMap, object, patch)],
    [
      'a strategic merge patch of what was not there',
      () => applyStrategicMergePatch(configMap, { metadata: {} }, patch),
    ],
    [
      'a JSON patch',
      () =>
        applyJsonPatch(object, [
          { op: 'add', path: '/data/more', value: 'v' },
          { op: 'replace', path: '/data/key-1', value: 'w' },
          { op: 'move', from: '/data/key-2', path: '/data/other' },
          { op: 'remove', path: '/data/other' },
        ]),
    ],
    ['an applied configuration', () => merge(mergeTypeOf(configMap), object, { data: many(COUNT / 2) })],
  ])('%s', (_, begin) => {
    const { data: made } = take(begin()).result as { readonly data: object };
    expect([...(knownKeysOf(made) ?? [])].sort()).toEqual(Object.keys(made).sort());
  });
});
