import { invalid, required, tooLong, type FieldError } from '../errors/field-error';
import { checkAfter, checkEach, checkLong } from './check-each';
import { mapAt, stringAt, type PlainMap } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import { base64Bytes, MAX_DATA_BYTES, validateConfigKey } from './config-keys';
import { validateImmutableData } from './config-map';
import { goJsonObjectProblem, goJsonObjectSteps } from './json-problem';

const SERVICE_ACCOUNT_NAME = 'kubernetes.io/service-account.name';
/** The path of some rules shows an unfilled place, on the wire as here. */
const UNFILLED_PATH = 'data[%s]';
/** Shorter ones take less than a millisecond. */
const LONG_TEXT = 16 * 1024;
const REDACTED = '<secret contents redacted>';

type TypeRule = (data: PlainMap, object: KubeObject) => readonly FieldError[];

function present(key: string): TypeRule {
  return (data) => (Object.hasOwn(data, key) ? [] : [required(`data[${key}]`, '')]);
}

/** The key holds a JSON object. */
function jsonObject(key: string): TypeRule {
  return (data) => {
    if (!Object.hasOwn(data, key)) return [required(`data[${key}]`, '')];
    const text = Buffer.from(stringAt(data, key), 'base64').toString('utf8');
    const told = (problem: string | undefined): readonly FieldError[] =>
      problem === undefined ? [] : [invalid(`data[${key}]`, REDACTED, problem)];
    // That is told already.
    if (text.length > MAX_DATA_BYTES) return [];
    if (text.length <= LONG_TEXT) return told(goJsonObjectProblem(text));
    return checkLong(function* () {
      return told(yield* goJsonObjectSteps(text));
    });
  };
}

/** What a secret must hold, by its type; types that are not listed hold anything. */
const TYPE_RULES: Readonly<Record<string, TypeRule>> = {
  'kubernetes.io/service-account-token': (_data, { metadata }) =>
    metadata.annotations?.[SERVICE_ACCOUNT_NAME] ? [] : [required(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`, '')],
  'kubernetes.io/dockercfg': jsonObject('.dockercfg'),
  'kubernetes.io/dockerconfigjson': jsonObject('.dockerconfigjson'),
  // Either may be empty, and one may be absent, but not both.
  'kubernetes.io/basic-auth': (data) =>
    Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
      ? []
      : [required(`${UNFILLED_PATH}[username]`, ''), required(`${UNFILLED_PATH}[password]`, '')],
  'kubernetes.io/ssh-auth': (data) =>
    stringAt(data, 'ssh-privatekey') === '' ? [required(`${UNFILLED_PATH}[ssh-privatekey]`, '')] : [],
  'kubernetes.io/tls': (data, object) => [...present('tls.crt')(data, object), ...present('tls.key')(data, object)],
};

export function validateSecret(object: KubeObject): readonly FieldError[] {
  const data = mapAt(object, 'data');
  let bytes = 0;
  const type = stringAt(object, 'type');
  const rule = Object.hasOwn(TYPE_RULES, type) ? TYPE_RULES[type] : undefined;
  return [
    ...checkEach(keysOf(data), (key) => {
      bytes += base64Bytes(String(data[key]));
      return validateConfigKey(key, 'data');
    }),
    ...checkAfter(() => (bytes > MAX_DATA_BYTES ? [tooLong('data', MAX_DATA_BYTES)] : [])),
    ...(rule === undefined ? [] : rule(data, object)),
  ];
}

export function validateSecretUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const type = stringAt(object, 'type');
  return [
    ...(type === stringAt(old, 'type') ? [] : [invalid('type', type, 'field is immutable')]),
    ...validateImmutableData(object, old, ['data']),
    ...validateSecret(object),
  ];
}
