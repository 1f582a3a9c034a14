import type { FieldError } from '../errors/field-error';
import { compileEmbeddedCheck } from './structural-rules';

test.each([
  [{ apiVersion: 'v1', kind: 'Pod' }, []],
  [{}, ['e.apiVersion: Required value: must not be empty', 'e.kind: Required value: must not be empty']],
  [{ apiVersion: '', kind: 'Pod' }, ['e.apiVersion: Invalid value: "": must not be empty']],
  [
    { apiVersion: 'a/b/c', kind: 'Pod' },
    ['e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
])('an embedded object %j says what it is', (value, problems) => {
  const errors: FieldError[] = [];
  compileEmbeddedCheck({ type: 'object', 'x-kubernetes-embedded-resource': true })?.(value, 'e', errors);
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
});

test('the kind of an embedded object is a word', () => {
  const errors: FieldError[] = [];
  const schema = { type: 'object', 'x-kubernetes-embedded-resource': true };
  compileEmbeddedCheck(schema)?.({ apiVersion: 'v1', kind: 'Bad_' }, 'e', errors);
  expect(errors).toMatchObject([{ field: 'e.kind', reason: 'FieldValueInvalid' }]);
});
