import type { ObjectMeta } from '../object';
import { dnsSubdomainName } from './names';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta';

const rules = { namespaced: true, validateName: dnsSubdomainName, unqualifiedFinalizers: false };

function problems(meta: Partial<ObjectMeta>, changed: Partial<typeof rules> = {}): readonly string[] {
  const errors = validateObjectMeta({ name: 'x', namespace: 'n', ...meta }, { ...rules, ...changed });
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

describe('metadata', () => {
  const cases: readonly (readonly [string, Partial<ObjectMeta>, readonly string[]])[] = [
    [
      'is fine',
      { labels: { 'example.com/A': 'b', c: '' }, annotations: { UPPER: 'any\n' }, finalizers: ['a.b/c'] },
      [],
    ],
    ['has no name', { name: '' }, ['metadata.name: Required value: name or generateName is required']],
    [
      'has two slashes in a label',
      { labels: { 'a/b/c': '1' } },
      [
        `metadata.labels: Invalid value: "a/b/c": a qualified name ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ],
    ],
    ['has a bad label value', { labels: { a: 'b-' } }, [`metadata.labels: Invalid value: "b-": ${VALUE_RULE}`]],
    [
      'has a long label value',
      { labels: { a: 'v'.repeat(64) } },
      [`metadata.labels: Invalid value: "${'v'.repeat(64)}": must be no more than 63 characters`],
    ],
    [
      'has an empty prefix',
      { annotations: { '/a': '1' } },
      ['metadata.annotations: Invalid value: "/a": prefix part must be non-empty'],
    ],
    [
      'has annotations that are too large',
      { annotations: { a: 'x'.repeat(256 * 1024) } },
      ['metadata.annotations: Too long: must have at most 262144 bytes'],
    ],
    [
      'has an empty finalizer',
      { finalizers: [''] },
      [
        'metadata.finalizers: Invalid value: "": name part must be non-empty',
        `metadata.finalizers: Invalid value: "": name part ${NAME_RULE}`,
        'metadata.finalizers[0]: Invalid value: "": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      'has contradictory finalizers',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: []string{"orphan", "foregroundDeletion"}: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'has an empty owner',
      { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
      ],
    ],
    [
      'has an owner of a malformed version',
      { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
      ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ],
    [
      'is owned by an event',
      { ownerReferences: [{ ...owner, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"p", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
  ];
  it.each(cases)('%s', (_name, meta, expected) => {
    expect(problems(meta)).toEqual(expected);
  });

  it('has one controlling owner at most', () => {
    const two = [owner, { ...owner, name: 'q' }].map((reference) => ({ ...reference, controller: true }));
    expect(problems({ ownerReferences: two })[0]).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    );
  });

  it('of custom resources may have finalizers without a domain', () => {
    expect(problems({ finalizers: ['short'] })).toEqual([
      'metadata.finalizers[0]: Invalid value: "short": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(problems({ finalizers: ['short'] }, { unqualifiedFinalizers: true })).toEqual([]);
  });

  it('of cluster-scoped kinds has no namespace', () => {
    expect(problems({}, { namespaced: false })).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
    expect(problems({ namespace: '' })).toEqual(['metadata.namespace: Required value']);
  });
});

describe('a change of metadata', () => {
  const old: ObjectMeta = { name: 'x', namespace: 'n', uid: 'u', creationTimestamp: '2001-02-03T04:05:06Z' };
  const changes: readonly (readonly [string, Partial<ObjectMeta>, readonly string[]])[] = [
    ['of labels is allowed', { labels: { a: 'b' } }, []],
    ['of the uid is not', { uid: 'other' }, ['metadata.uid: Invalid value: "other": field is immutable']],
    [
      'does not begin a deletion',
      { deletionTimestamp: '2001-02-03T04:05:06Z', deletionGracePeriodSeconds: 5 },
      [
        'metadata.deletionTimestamp: Invalid value: 2001-02-03 04:05:06 +0000 UTC: field is immutable',
        'metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
      ],
    ],
  ];
  it.each(changes)('%s', (_name, change, expected) => {
    const errors = validateObjectMetaUpdate({ ...old, ...change }, old);
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
  });

  it('adds no finalizer to a terminating object', () => {
    const terminating: ObjectMeta = { ...old, deletionTimestamp: '2001-02-03T04:05:06Z', finalizers: ['a/a', 'a/b'] };
    expect(validateObjectMetaUpdate({ ...terminating, finalizers: ['a/b'] }, terminating)).toEqual([]);
    expect(validateObjectMetaUpdate({ ...terminating, finalizers: ['a/b', 'a/c'] }, terminating)).toEqual([
      {
        reason: 'FieldValueForbidden',
        field: 'metadata.finalizers',
        message:
          'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c"}',
      },
    ]);
  });
});
