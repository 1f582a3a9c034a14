import { DecodeError } from '../../api/codec/json-decode';
import type { StatusError } from '../../api/errors/status-error';
import type { JsonValue } from '../../api/object';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import type { StructType } from '../../api/schema/model';
import { decodePatched } from './patched-object';
import {
  JSON_PATCH,
  MERGE_PATCH,
  STRATEGIC_MERGE_PATCH,
  patchTypeOf,
  patchers,
  readPatch,
  type Patched,
} from './patchers';

const configMap = loadBuiltinSchema().kind('', 'v1', 'ConfigMap') as StructType;
const wanted = { kind: 'ConfigMap', apiVersion: 'v1', custom: false };
const current = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { a: '1' } };

function patched(patchType: string, body: unknown): Patched {
  const patcher = patchers.get(patchType);
  if (patcher === undefined) throw new Error(`no patcher for ${patchType}`);
  return patcher(current, body as JsonValue, configMap);
}

function failure(action: () => unknown): StatusError['status'] {
  try {
    action();
  } catch (error) {
    return (error as StatusError).status;
  }
  throw new Error('nothing was refused');
}

describe('patchTypeOf', () => {
  test.each([
    ['application/merge-patch+json', MERGE_PATCH],
    ['application/merge-patch+json; charset=utf-8', MERGE_PATCH],
    ['Application/Merge-Patch+JSON', 'Application/Merge-Patch+JSON'],
    [undefined, ''],
  ])('takes %s for %s', (contentType, patchType) => {
    expect(patchTypeOf(contentType)).toBe(patchType);
  });
});

describe('a patched document', () => {
  test.each([
    ['without kind', [{ op: 'remove', path: '/kind' }]],
    ['with an empty kind', [{ op: 'replace', path: '/kind', value: '' }]],
  ])('%s is still of its kind', (_, operations) => {
    expect(decodePatched(patched(JSON_PATCH, operations), wanted, (document) => document)).toEqual(current);
  });

  it('without apiVersion has nothing in it, not even a name', () => {
    const operations = [{ op: 'remove', path: '/apiVersion' }];
    const { kind, apiVersion } = wanted;
    expect(decodePatched(patched(JSON_PATCH, operations), wanted, (document) => document)).toEqual({
      kind,
      apiVersion,
    });
  });

  it('may say that it is of another version that is known', () => {
    const isKnownIn = (version: string): boolean => version === 'v2';
    const change = patched(MERGE_PATCH, { apiVersion: 'v2' });
    expect(decodePatched(change, { ...wanted, isKnownIn }, (document) => document)).toEqual({
      ...current,
      apiVersion: 'v2',
    });
  });

  test.each([
    ['another kind', JSON_PATCH, [{ op: 'replace', path: '/kind', value: 'Secret' }]],
    ['another version', MERGE_PATCH, { apiVersion: 'v2' }],
    ['a list', MERGE_PATCH, []],
    ['a number for its kind', MERGE_PATCH, { kind: 0 }],
    ['a long number for its kind', JSON_PATCH, [{ op: 'replace', path: '/kind', value: 9007199254740993n }]],
    ['a list for its version', MERGE_PATCH, { apiVersion: [9007199254740993n] }],
    ['a number for its kind, strategically', STRATEGIC_MERGE_PATCH, { kind: 0 }],
    ['a list for its version, strategically', STRATEGIC_MERGE_PATCH, { apiVersion: ['v1'] }],
  ])('that is %s is refused with 422', (_, patchType, body) => {
    const status = failure(() => decodePatched(patched(patchType, body), wanted, (document) => document));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field: 'patch' }] } });
  });

  it('of a custom resource that is a long number for its kind says so', () => {
    const document = patched(MERGE_PATCH, { kind: 9007199254740993n });
    expect(failure(() => decodePatched(document, { ...wanted, custom: true }, (one) => one))).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'kind', message: 'Invalid value: "9007199254740993": must be ConfigMap' }] },
    });
  });

  it('is what was there when a strategic patch is null', () => {
    expect(patched(STRATEGIC_MERGE_PATCH, null).document).toEqual(current);
  });

  test.each([
    [[], 'array'],
    [1, 'number'],
    [true, 'bool'],
    ['a', 'string'],
  ])('is not made by %j as a strategic patch', (body, found) => {
    expect(failure(() => patched(STRATEGIC_MERGE_PATCH, body))).toMatchObject({
      code: 400,
      message: `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    });
  });

  it('keeps its kind whatever a strategic patch says', () => {
    expect(patched(STRATEGIC_MERGE_PATCH, { kind: 'Secret', apiVersion: 'v2' }).document).toEqual(current);
  });

  it('that cannot be decoded is shown as the patch format shows it', () => {
    const refuse = () => {
      throw new DecodeError('ConfigMap', 'no map', { kind: 'mismatch', value: 5, expected: 'string' });
    };
    expect(failure(() => decodePatched(patched(MERGE_PATCH, {}), wanted, refuse)).message).toMatch(
      /^ "" is invalid: patch: Invalid value: "{\\"kind\\":.*}": no map$/,
    );
    expect(
      failure(() => decodePatched(patched(STRATEGIC_MERGE_PATCH, { data: { a: 5 } }), wanted, refuse)).message,
    ).toBe(' "" is invalid: patch: Invalid value: "map[data:map[a:5]]": cannot convert int64 to string');
  });

  test.each(['null', '"x"', '1'])('cannot come of the merge patch %s', (body) => {
    const patcher = patchers.get(MERGE_PATCH);
    expect(failure(() => patcher?.(current, readPatch(MERGE_PATCH, Buffer.from(body)), configMap)).code).toBe(400);
  });
});
