import { StatusError } from '../errors/status-error';
import { duplicatesOf, parseObjectBody, strictDecodingError, strictProblems } from './request-body';

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message;
    throw error;
  }
  return 'not refused';
}

const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

test.each([
  ['json', '', "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
  ['json', '{', "couldn't get version/kind; json parse error: unexpected end of JSON input ({)"],
  [
    'json',
    '{"metadata":{"name":"x"}}{"metadata":{"name":"y"}}',
    'couldn\'t get version/kind; json parse error: invalid character \'{\' after top-level value ({"metadata":{"name":"x"}}{"met ...)',
  ],
  [
    'json',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m7\n',
    "couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value (61706956657273696f6e3a2076310a6b696e643a20436f6e6669674d6170 ...)",
  ],
  [
    'json',
    '"text"',
    `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta} (227465787422)`,
  ],
  [
    'json',
    '{"kind":9007199254740993}',
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":9007199254740993})',
  ],
  [
    'yaml',
    '- a\n- b\n',
    `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${typeMeta} (2d20610a2d20620a)`,
  ],
  [
    'json',
    '{"apiVersion":"v1","kind":7,"metadata":{}}',
    'couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"apiVersion":"v1","kind":7,"m ...)',
  ],
  [
    'json',
    '{"apiVersion":"v1/v1/v1","kind":"ConfigMap"}',
    'unexpected GroupVersion string: v1/v1/v1 ({"apiVersion":"v1/v1/v1","kind ...)',
  ],
  ['yaml', 'a: [', 'yaml: line 1: did not find expected node content (613a205b)'],
] as const)('%s body %j is no object', (format, body, problem) => {
  expect(messageOf(() => parseObjectBody(Buffer.from(body), format, 'ConfigMap'))).toBe(
    `the object provided is unrecognized (must be of type ConfigMap): ${problem}`,
  );
});

test('null and an empty YAML document are an empty object', () => {
  expect(parseObjectBody(Buffer.from('null'), 'json', 'ConfigMap')).toEqual({});
  expect(parseObjectBody(Buffer.from(''), 'yaml', 'ConfigMap')).toEqual({});
});

test('strict validation names duplicates first, then unknown fields', () => {
  const body = Buffer.from('{"kind":"Pod","metadata":{"name":"a","name":"b"},"spec":{"foo":1}}');
  const problems = strictProblems('json', duplicatesOf(body, 'json'), ['spec.foo']);
  expect(problems).toEqual(['duplicate field "metadata.name"', 'unknown field "spec.foo"']);
  expect(strictDecodingError('Pod', 'v1', problems).message).toBe(
    'Pod in version "v1" cannot be handled as a Pod: strict decoding error: duplicate field "metadata.name", unknown field "spec.foo"',
  );
  expect(strictProblems('yaml', duplicatesOf(Buffer.from('a: 1\na: 2\n'), 'yaml'), [])).toEqual([
    'yaml: unmarshal errors:\n  line 2: key "a" already set in map',
  ]);
});
