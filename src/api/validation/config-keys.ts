import { invalid, type FieldError } from '../errors/field-error';
import { byteLength, lengthProblem, patternProblem } from './syntax-error';

/** Rules for the keys of config maps and secrets, which become file names in volumes. */
const KEY = '[-._a-zA-Z0-9]+';
const KEY_MAX_BYTES = 253;
const keyPattern = new RegExp(`^${KEY}$`);
const KEY_PROBLEM = patternProblem(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  KEY,
  'key.name',
  'KEY_NAME',
  'key-name',
);

/** The most that a config map or a secret may hold, in bytes. */
export const MAX_DATA_BYTES = 1024 * 1024;

function pathProblems(key: string): readonly string[] {
  if (key === '.') return ["must not be '.'"];
  if (key === '..') return ["must not be '..'"];
  return key.startsWith('..') ? ["must not start with '..'"] : [];
}

const NO_PROBLEMS: readonly string[] = [];
const NO_ERRORS: readonly FieldError[] = [];

/** Empty list: valid. */
export function configKeyProblems(key: string): readonly string[] {
  // What is well formed has one byte for each character.
  if (keyPattern.test(key) && key.length <= KEY_MAX_BYTES && key !== '.' && !key.startsWith('..')) return NO_PROBLEMS;
  return [
    ...(byteLength(key) > KEY_MAX_BYTES ? [lengthProblem(KEY_MAX_BYTES)] : []),
    ...(keyPattern.test(key) ? [] : [KEY_PROBLEM]),
    ...pathProblems(key),
  ];
}

export function validateConfigKey(key: string, path: string): readonly FieldError[] {
  const problems = configKeyProblems(key);
  return problems.length === 0 ? NO_ERRORS : problems.map((problem) => invalid(`${path}[${key}]`, key, problem));
}

/** The bytes that a base64 text stands for, without decoding it. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.max(0, (text.length / 4) * 3 - padding);
}

export const IMMUTABLE_DETAIL = 'field is immutable when `immutable` is set';
