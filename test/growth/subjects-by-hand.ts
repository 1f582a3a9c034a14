import { trackUpdate } from '../../src/api/apply/field-manager';
import { capUpdateManagers, readManagers } from '../../src/api/apply/managed-fields';
import { parseJson, duplicateFields } from '../../src/api/codec/json-syntax';
import { compileShape, DefaultsRoom } from '../../src/api/custom/shape';
import { compileValidation } from '../../src/api/custom/schema-validation';
import { compileListCheck } from '../../src/api/custom/structural-rules';
import type { FieldError } from '../../src/api/errors/field-error';
import { StatusError } from '../../src/api/errors/status-error';
import type { JsonObject, JsonValue, KubeObject, ManagedFieldsEntry } from '../../src/api/object';
import { applyJsonPatch } from '../../src/api/patch/json-patch';
import { applyStrategicMergePatch } from '../../src/api/patch/strategic-merge';
import { take } from '../../src/api/steps/both-forms.fixture';
import * as ownersInSteps from '../../src/api/steps/generated/apply/field-manager';
import * as jsonPatchInSteps from '../../src/api/steps/generated/patch/json-patch';
import * as mergePatchInSteps from '../../src/api/steps/generated/patch/merge-patch';
import * as strategicInSteps from '../../src/api/steps/generated/patch/strategic-merge';
import { canonicalQuantity } from '../../src/api/quantity/quantity';
import { loadBuiltinSchema } from '../../src/api/schema/builtin-schema';
import { matchesFields, parseFieldSelector } from '../../src/api/selectors/field-selector';
import { matchesLabels, parseLabelSelector } from '../../src/api/selectors/label-selector';
import { parseDuration } from '../../src/api/time/duration';
import { cronScheduleProblem } from '../../src/api/validation/cron-schedule';
import { validateCustomSchema } from '../../src/api/validation/custom-schema';
import { Query } from '../../src/http/request/query';
import { FIRST } from './grown-objects';
import type { Subject } from './subject';

/** What schemas do not lead to: texts with a syntax of their own, patches that repeat themselves, custom resources. */

type Prepare = Subject['prepare'];

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => FIRST + index);
}

/** Runs over the text; refusals are answers too. */
function text(make: (count: number) => string, read: (text: string) => unknown): Prepare {
  return (count) => {
    const made = make(count);
    return () => {
      try {
        read(made);
      } catch (error) {
        if (error instanceof TypeError || error instanceof RangeError) throw error;
      }
    };
  };
}

function podWith(count: number): { readonly live: never; readonly names: readonly string[] } {
  const names = numbers(count).map((number) => `c-${number}`);
  const containers = names.map((name) => ({ name, image: 'a', env: [{ name, value: 'x' }] }));
  return { live: { metadata: {}, spec: { containers } } as never, names };
}

function strategic(patchOf: (names: readonly string[]) => JsonValue): Prepare {
  return (count) => {
    const type = loadBuiltinSchema().kind('', 'v1', 'Pod');
    if (type === undefined) throw new Error('no pods');
    const { live, names } = podWith(count);
    const patch = { spec: patchOf(names) } as never;
    return () => void applyStrategicMergePatch(type, live, patch);
  };
}

/** A patch of which a hundred operations meet a list of any size: their number is bounded by itself. */
function jsonPatch(operation: (index: number) => JsonValue): Prepare {
  return (count) => {
    const document = { list: numbers(count * 8), map: {} };
    const operations = numbers(count).map((number) => operation(number));
    return () => void applyJsonPatch(document, operations);
  };
}

function managed(fieldsOf: (number: number) => JsonValue, operation: 'Apply' | 'Update'): Prepare {
  return (count) => {
    const entries = numbers(count).map((number) => ({
      manager: `m-${number}`,
      operation,
      apiVersion: 'v1',
      time: '2020-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: fieldsOf(number),
    })) as unknown as readonly ManagedFieldsEntry[];
    const type = loadBuiltinSchema().kind('', 'v1', 'ConfigMap');
    if (type === undefined) throw new Error('no config maps');
    const data = Object.fromEntries(numbers(count).map((number) => [`k-${number}`, 'a']));
    const live = { metadata: {}, data } as unknown as KubeObject;
    const object = { metadata: { managedFields: entries }, data: { ...data, more: 'b' } } as unknown as KubeObject;
    return () => {
      capUpdateManagers(readManagers(entries));
      trackUpdate({
        type,
        gvk: { group: '', version: 'v1', kind: 'ConfigMap' },
        manager: 'me',
        now: '2026-01-02T03:04:05Z',
        live,
        object,
      });
    };
  };
}

/** Writes to a pod that has many of all, in the form in which absurdly large objects are worked on. */
function inSteps(): Prepare {
  const type = loadBuiltinSchema().kind('', 'v1', 'Pod');
  if (type === undefined) throw new Error('no pods');
  const options = { type, gvk: { group: '', version: 'v1', kind: 'Pod' }, now: '2026-01-02T03:04:05Z' };
  const podOf = (count: number, from: number): KubeObject => {
    const names = numbers(count).map((number) => `n-${(number * 7 + from) % (FIRST + count)}`);
    const labels = Object.fromEntries(names.map((name) => [name, `${from}`]));
    const containers = [...new Set(names)].map((name) => ({ name, image: `${from}` }));
    return {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'a', labels, finalizers: [...new Set(names)] },
      spec: { containers },
    };
  };
  return (count) => {
    const [before, after] = [podOf(count, 0), podOf(count, 1)];
    const [document, patch] = [before, after] as unknown as readonly [JsonObject, JsonObject];
    return () => {
      const created = take(
        ownersInSteps.trackUpdate({ ...options, manager: 'a', live: undefined, object: before }),
      ).result;
      take(ownersInSteps.trackUpdate({ ...options, manager: 'b', live: created, object: after }));
      const apply = (live: KubeObject, applied: JsonObject): KubeObject =>
        take(ownersInSteps.apply({ ...options, manager: 'c', live, applied, force: true })).result.object;
      apply(apply(created, patch), { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } });
      take(strategicInSteps.applyStrategicMergePatch(type, document, patch));
      take(mergePatchInSteps.applyMergePatch(document, patch));
      take(jsonPatchInSteps.applyJsonPatch(document, [{ op: 'copy', from: '/metadata', path: '/more' }]));
    };
  };
}

function custom(schemaOf: (count: number) => JsonValue, valueOf: (count: number) => JsonValue): Prepare {
  return (count) => {
    const schema = schemaOf(count) as never;
    const value = valueOf(count);
    return () => {
      const room = new DefaultsRoom(true);
      try {
        const shaped = compileShape(schema)?.(value, { unknown: [], path: [], room }) ?? value;
        const errors: FieldError[] = [];
        compileValidation(schema)(shaped, '', errors);
        compileListCheck(schema)?.(shaped, '', errors);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
      }
    };
  };
}

const items = (item: JsonValue, list: object = {}): JsonValue => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { list: { type: 'array', items: item, ...list } } } },
});
const listOf = (item: (number: number) => JsonValue) => (count: number) => ({
  kind: 'A',
  metadata: {},
  spec: { list: numbers(count).map((number) => item(number)) },
});
const definition = (schemaOf: (count: number) => JsonValue): Prepare => {
  return (count) => {
    const schema = schemaOf(count) as never;
    return () => void validateCustomSchema(schema, 'schema', { structure: true } as never);
  };
};

const manyProperties = (count: number, property: JsonValue): JsonValue =>
  Object.fromEntries(numbers(count).map((number) => [`p-${number}`, property]));
const A_SET = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };

const SUBJECTS: Readonly<Record<string, Prepare>> = {
  'owners and patches in steps': inSteps(),
  'a quantity of zeros that ends wrong': text((count) => `${'0'.repeat(count * 4)}x`, canonicalQuantity),
  'a quantity with a long fraction': text((count) => `0.${'1'.repeat(count)}`, canonicalQuantity),
  'a duration of many parts': text((count) => '1h1ns'.repeat(count), parseDuration),
  'a schedule of many ranges': text((count) => `${'1-2,'.repeat(count)}5 * * * *`, cronScheduleProblem),
  'a schedule of one long number': text((count) => `@every ${'1'.repeat(count * 4)}`, cronScheduleProblem),
  'a field selector of backslashes': text((count) => '\\a'.repeat(Math.min(count, 24)), parseFieldSelector),
  'a field selector of many terms': text(
    (count) =>
      numbers(count)
        .map((number) => `metadata.name!=a${number}`)
        .join(),
    (selector) => matchesFields(parseFieldSelector(selector), () => 'a'),
  ),
  'a label selector of many values': text(
    (count) =>
      `a in (${numbers(count)
        .map((number) => `v${number}`)
        .join()})`,
    (selector) => {
      const requirements = parseLabelSelector(selector);
      for (const number of numbers(selector.length / 7)) matchesLabels(requirements, { a: `v${number}` });
    },
  ),
  'a label selector of many requirements': text(
    (count) =>
      numbers(count)
        .map((number) => `!k${number}`)
        .join(),
    (selector) => matchesLabels(parseLabelSelector(selector), { a: 'b' }),
  ),
  'a query of many parameters': text(
    (count) =>
      numbers(count)
        .map((number) => `a=${number}`)
        .join('&'),
    (query) => Query.parse(query).all('a'),
  ),
  'JSON that names fields twice': text(
    (count) =>
      `{${numbers(count)
        .map(() => '"a":{"b":1,"b":2}')
        .join()}}`,
    (json) => [parseJson(json), duplicateFields(json)],
  ),
  'strategic merge of all items': strategic((names) => ({ containers: names.map((name) => ({ name, image: 'b' })) })),
  'strategic merge of all items in another order': strategic((names) => ({
    '$setElementOrder/containers': names.toReversed().map((name) => ({ name })),
    containers: names.toReversed().map((name) => ({ name, image: 'b' })),
  })),
  'strategic merge that deletes all items': strategic((names) => ({
    containers: names.map((name) => ({ name, $patch: 'delete' })),
  })),
  'strategic merge of one item again and again': strategic((names) => ({
    containers: names.map(() => ({ name: names[0] ?? '', env: [{ name: 'a', value: 'b' }] })),
  })),
  'strategic merge that retains keys': strategic((names) => ({
    nodeSelector: { $retainKeys: names, ...Object.fromEntries(names.map((name) => [name, 'a'])) },
  })),
  'JSON patch that appends': jsonPatch(() => ({ op: 'add', path: '/list/-', value: 1 })),
  'JSON patch that fills a map': jsonPatch((index) => ({ op: 'add', path: `/map/${index}`, value: { a: index } })),
  'managed fields of many appliers': managed((number) => ({ 'f:data': { [`f:k-${number}`]: {} } }), 'Apply'),
  'managed fields of many updaters': managed((number) => ({ 'f:data': { [`f:k-${number}`]: {} } }), 'Update'),
  'managed fields of appliers that own one field': managed(() => ({ 'f:data': { 'f:k-10000': {} } }), 'Apply'),
  'custom items with defaults': custom(
    () => items({ type: 'object', properties: { a: { type: 'string', default: 'b' } } }),
    listOf(() => ({})),
  ),
  'custom items that are unknown': custom(
    () => items({ type: 'object' }),
    listOf((number) => ({ a: number })),
  ),
  'custom items of a wrong type': custom(
    () => items({ type: 'string', maxLength: 2 }),
    listOf((number) => number),
  ),
  'custom items that lack what is required': custom(
    () => items({ type: 'object', required: ['a', 'b'] }),
    listOf(() => ({})),
  ),
  'a custom set': custom(
    () => items({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
    listOf((number) => `v-${number}`),
  ),
  'a custom map whose items are alike': custom(
    () =>
      items(
        { type: 'object', properties: { name: { type: 'string' } } },
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      ),
    listOf(() => ({ name: 'a' })),
  ),
  'an enumeration': custom(
    (count) => items({ type: 'string', enum: numbers(count).map((number) => `v-${number}`) }),
    listOf((number) => `v-${number}`),
  ),
  'custom items that have none of many defaults': custom(
    (count) => items({ type: 'object', properties: manyProperties(count, { type: 'string', default: 'b' }) }),
    listOf(() => ({})),
  ),
  'custom items that have none of many lists': custom(
    (count) => items({ type: 'object', properties: manyProperties(count, A_SET) }),
    listOf(() => ({})),
  ),
  'custom items that have few of many keys': custom(
    (count) =>
      items(
        { type: 'object', properties: manyProperties(count, { type: 'string' }) },
        {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': numbers(count).map((number) => `p-${number}`),
        },
      ),
    listOf((number) => ({ [`p-${number}`]: 'a' })),
  ),
  'custom items that lack what many schemas require': custom(
    (count) => items({ type: 'object', required: numbers(count).map((number) => `p-${number}`) }),
    listOf(() => ({})),
  ),
  'custom items with many alternatives': custom(
    (count) => items({ anyOf: numbers(count).map((number) => ({ required: [`p-${number}`] })) }),
    listOf(() => ({})),
  ),
  'custom items that are none of many values': custom(
    (count) => items({ type: 'string', enum: numbers(count).map((number) => `v-${number}`) }),
    listOf((number) => `w-${number}`),
  ),
  'a definition of many properties': definition((count) => ({
    type: 'object',
    properties: Object.fromEntries(numbers(count).map((number) => [`p-${number}`, { type: 'string', default: 'a' }])),
  })),
  'a definition of a list with many keys': definition((count) => ({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': numbers(count).map((number) => `p-${number}`),
    items: {
      type: 'object',
      required: numbers(count).map((number) => `p-${number}`),
      properties: Object.fromEntries(numbers(count).map((number) => [`p-${number}`, { type: 'string' }])),
    },
  })),
};

export function subjectsByHand(): readonly Subject[] {
  return Object.entries(SUBJECTS).map(([name, prepare]) => ({ name, prepare }));
}
