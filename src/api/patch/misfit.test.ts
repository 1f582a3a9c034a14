import { documentDoesNotFit, strategicPatchDoesNotFit } from './misfit';

const patch = { spec: { containers: [{ name: 'c', args: null }], b: true } };

describe('strategicPatchDoesNotFit', () => {
  test.each([
    [{}, '[]v1.Container', 'cannot restore slice from map'],
    ['x', '[]v1.Container', 'cannot restore slice from string'],
    [[], 'map[string]string', 'cannot restore map from slice'],
    [true, 'v1.PodSpec', 'cannot restore struct from: bool'],
    [5, 'string', 'cannot convert int64 to string'],
    [1.5, 'int32', 'cannot convert float64 to int32'],
    ['true', 'bool', 'unrecognized type: bool'],
    [{}, 'string', 'unrecognized type: string'],
    [[], 'int64', 'unrecognized type: int64'],
  ])('says of %j where %s is expected: %s', (value, expected, detail) => {
    const { status } = strategicPatchDoesNotFit(patch, { kind: 'mismatch', value, expected });
    const message = `Invalid value: "map[spec:map[b:true containers:[map[args:<nil> name:c]]]]": ${detail}`;
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: ` "" is invalid: patch: ${message}`,
      details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
    });
  });

  test('repeats what is wrong with a text', () => {
    const { status } = strategicPatchDoesNotFit({ a: 'b' }, { kind: 'spelling', message: 'no quantity' });
    expect(status.message).toBe(' "" is invalid: patch: Invalid value: "map[a:b]": no quantity');
  });
});

test('a document that does not fit is shown as JSON', () => {
  const { status } = documentDoesNotFit(['a'], 'no map');
  expect(status.message).toBe(' "" is invalid: patch: Invalid value: "[\\"a\\"]": no map');
});
