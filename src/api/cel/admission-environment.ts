import type { JsonValue } from '../object';
import { adaptDynamic } from './data';
import * as types from './types';
import { DYN, listOf, mapOf, type ObjectType, type Type } from './types';
import { ObjectValue, type Value } from './values';

/** What expressions of webhooks and policies may name, and the values of a request. */

const KIND = struct('kubernetes.GroupVersionKind', { group: types.STRING, version: types.STRING, kind: types.STRING });
const RESOURCE = struct('kubernetes.GroupVersionResource', {
  group: types.STRING,
  version: types.STRING,
  resource: types.STRING,
});
const USER = struct('kubernetes.UserInfo', {
  username: types.STRING,
  uid: types.STRING,
  groups: listOf(types.STRING),
  extra: mapOf(types.STRING, listOf(types.STRING)),
});
export const REQUEST: ObjectType = struct('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: types.STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: types.STRING,
  name: types.STRING,
  namespace: types.STRING,
  operation: types.STRING,
  userInfo: USER,
  dryRun: types.BOOL,
  options: DYN,
});

const AUTHORIZER: Type = { kind: 'opaque', name: 'kubernetes.authorization.Authorizer' };
const RESOURCE_CHECK: Type = { kind: 'opaque', name: 'kubernetes.authorization.ResourceCheck' };

function struct(name: string, fields: Readonly<Record<string, Type>>): ObjectType {
  return { kind: 'object', name, fields: new Map(Object.entries(fields)) };
}

/** `matchConditions` of webhooks and policies. */
export const CONDITION_VARIABLES: ReadonlyMap<string, Type> = new Map([
  ['object', DYN],
  ['oldObject', DYN],
  ['request', REQUEST],
  ['authorizer', AUTHORIZER],
  ['authorizer.requestResource', RESOURCE_CHECK],
]);

/** What a policy's expressions may name, but for its own variables. */
export function policyVariables(paramKind: object | null | undefined): ReadonlyMap<string, Type> {
  return new Map([
    ...CONDITION_VARIABLES,
    ['namespaceObject', DYN],
    ...(paramKind === undefined || paramKind === null ? [] : [['params', DYN] as const]),
  ]);
}

/** `variables.name`, as far as `known` has them; it may still grow. */
export function withVariables(
  base: ReadonlyMap<string, Type>,
  known: ReadonlyMap<string, Type>,
): ReadonlyMap<string, Type> {
  const variables: ObjectType = { kind: 'object', name: 'kubernetes.variables', fields: known };
  return new Map<string, Type>([...base, ['variables', variables]]);
}

/** Data of a struct whose type is declared above. */
export class StructData extends ObjectValue {
  constructor(
    private readonly type: ObjectType,
    private readonly data: Readonly<Record<string, unknown>>,
  ) {
    super();
  }

  get typeName(): string {
    return this.type.name;
  }

  get(field: string): Value | undefined {
    const value = Object.hasOwn(this.data, field) ? this.data[field] : undefined;
    if (value === undefined) return undefined;
    const type = this.type.fields.get(field);
    return type?.kind === 'object'
      ? new StructData(type, value as Readonly<Record<string, unknown>>)
      : adaptDynamic(value as JsonValue);
  }

  fields(): readonly string[] {
    return [...this.type.fields.keys()].filter((field) => this.get(field) !== undefined);
  }
}
