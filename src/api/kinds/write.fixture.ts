import { decodeObject } from '../codec/json-decode';
import { apiVersionOf, type KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { CATALOGUE } from './catalogue';
import type { KindDefinition, RequestedVersion, Strategy, WriteRequest } from './kind-definition';

/** What the registry does to an object before it stores it, without the registry: for tests of kinds. */
const schema = loadBuiltinSchema();

const NOW = '2026-01-02T03:04:05Z';
const UID = '11111111-2222-3333-4444-555555555555';

/** `apps/v1 Deployment`. */
export interface Sent {
  readonly definition: KindDefinition;
  readonly requested: RequestedVersion;
}

export function sentAs(groupVersionKind: string): Sent {
  const [apiVersion = '', kind] = groupVersionKind.split(' ');
  for (const definition of CATALOGUE) {
    const version = definition.versions.find((one) => apiVersionOf(one.group, one.version) === apiVersion);
    if (version && definition.kind === kind) {
      return { definition, requested: { group: version.group, version: version.version } };
    }
  }
  throw new Error(`no kind ${groupVersionKind}`);
}

/** The body decoded, with its defaults, in the storage version. */
export function decoded({ definition, requested }: Sent, body: object): KubeObject {
  const { group, version } = requested;
  const type = schema.kind(group, version, definition.kind);
  if (type === undefined) throw new Error(`no type of ${group}/${version} ${definition.kind}`);
  const { object } = decodeObject(type, body, {
    applyDefaults: true,
    collectUnknown: false,
    kind: definition.kind,
    version,
  });
  const served = definition.versions.find((one) => one.group === group && one.version === version);
  const defaulted = definition.applyDefaults?.(object, version) ?? object;
  return served?.convert?.toStorage(defaulted) ?? defaulted;
}

function writeRequest({ requested }: Sent): WriteRequest {
  return { requested, now: NOW, user: { name: 'admin', groups: ['g'] } };
}

/** A new object as it would be stored. */
export function created(sent: Sent, body: object): KubeObject {
  const object = decoded(sent, body);
  const withUid = { ...object, metadata: { ...object.metadata, uid: UID } };
  return sent.definition.strategy.prepareForCreate?.(withUid, writeRequest(sent)) ?? withUid;
}

/** `field: message` of every problem of a new object, in order. */
export function problemsOfNew(sent: Sent, body: object): readonly string[] {
  const errors = sent.definition.strategy.validateCreate?.(created(sent, body), sent.requested) ?? [];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

/** The object after a change, as it would be stored; with `subresource`, after a write to that. */
export function changed(sent: Sent, old: KubeObject, change: object, subresource?: string): KubeObject {
  const object = { ...old, ...change };
  return strategyOf(sent, subresource).prepareForUpdate?.(object, old, writeRequest(sent)) ?? object;
}

export function problemsOfChange(sent: Sent, old: KubeObject, change: object, subresource?: string): readonly string[] {
  const object = changed(sent, old, change, subresource);
  const errors = strategyOf(sent, subresource).validateUpdate?.(object, old, sent.requested) ?? [];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

function strategyOf({ definition }: Sent, subresource: string | undefined): Strategy {
  if (subresource === undefined) return definition.strategy;
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (found?.strategy === undefined) throw new Error(`${definition.kind} has no ${subresource}`);
  return found.strategy;
}
