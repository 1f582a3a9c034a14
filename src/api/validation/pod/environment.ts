import { invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../schema/generated/core-v1';
import { configKeyProblems } from '../config-keys';
import { patternProblem } from '../syntax-error';
import { ENV_FIELDS, validateFieldRef, validateResourceFieldRef } from './field-references';
import { invalidBecause, validateDnsSubdomain } from './field-rules';
import { dotNameProblems } from './paths';

const NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const namePattern = new RegExp(`^${NAME}$`);
const NAME_PROBLEM = patternProblem(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  NAME,
  'my.env-name',
  'MY_ENV.NAME',
  'MyEnvName1',
);

function validateName(name: string, field: string): readonly FieldError[] {
  const problems = [...(namePattern.test(name) ? [] : [NAME_PROBLEM]), ...dotNameProblems(name)];
  return invalidBecause(field, name, problems);
}

interface KeySelector {
  readonly name?: string;
  readonly key?: string;
}

/** One key of a config map or a secret. */
function validateKeyRef({ name = '', key = '' }: KeySelector, path: string): readonly FieldError[] {
  return [
    ...validateDnsSubdomain(name, `${path}.name`),
    ...(key === '' ? [required(`${path}.key`, '')] : invalidBecause(`${path}.key`, key, configKeyProblems(key))),
  ];
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'] as const;

function validateSource(source: EnvVarSource, path: string): readonly FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, ENV_FIELDS, `${path}.fieldRef`) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(resourceFieldRef, false, `${path}.resourceFieldRef`) : []),
    ...(configMapKeyRef ? validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`) : []),
    ...(secretKeyRef ? validateKeyRef(secretKeyRef, `${path}.secretKeyRef`) : []),
  ];
}

/** Exactly one source, and no value beside it. */
function validateValueFrom({ value = '', valueFrom }: EnvVar, path: string): readonly FieldError[] {
  if (valueFrom === undefined) return [];
  const count = SOURCES.filter((name) => valueFrom[name] !== undefined).length;
  const errors = [...validateSource(valueFrom, path)];
  if (count === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    errors.push(invalid(path, '', detail));
  }
  if (value !== '' && count > 0) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  if (value === '' && count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

export function validateEnv(variables: readonly EnvVar[] | undefined, path: string): readonly FieldError[] {
  return checkEach(variables, (variable, index) => {
    const name = variable.name ?? '';
    const field = `${path}[${index}]`;
    return [
      ...(name === '' ? [required(`${field}.name`, '')] : validateName(name, `${field}.name`)),
      ...validateValueFrom(variable, `${field}.valueFrom`),
    ];
  });
}

function validateWholeRef(name: string, path: string): readonly FieldError[] {
  return name === '' ? [required(`${path}.name`, '')] : validateDnsSubdomain(name, `${path}.name`);
}

export function validateEnvFrom(sources: readonly EnvFromSource[] | undefined, path: string): readonly FieldError[] {
  return checkEach(sources, ({ prefix = '', configMapRef, secretRef }, index) => {
    const field = `${path}[${index}]`;
    const errors = [
      ...(prefix === '' ? [] : validateName(prefix, `${field}.prefix`)),
      ...(configMapRef ? validateWholeRef(configMapRef.name ?? '', `${field}.configMapRef`) : []),
      ...(secretRef ? validateWholeRef(secretRef.name ?? '', `${field}.secretRef`) : []),
    ];
    // Both complaints are about the list and not about its item, on the wire as here.
    if (!configMapRef && !secretRef) {
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (configMapRef && secretRef) {
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
    }
    return errors;
  });
}
