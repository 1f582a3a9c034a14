import { invalid, required, tooLong, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { IngressClassSpec } from '../schema/generated/networking-v1';
import { validateUnchanged } from './immutable';
import { validateTypedReference } from './ingress';
import { dns1123SubdomainProblems } from './names';
import { invalidBecause } from './pod/field-rules';
import { patternProblem } from './syntax-error';

const MAX_CONTROLLER_LENGTH = 250;
const URL_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const urlPathPattern = new RegExp(`^(?:${URL_PATH})$`);
const URL_PATH_PROBLEM = patternProblem('Invalid path', URL_PATH);

function specOf(object: KubeObject): IngressClassSpec {
  return object['spec'] ?? {};
}

/** `example.com/anything`. */
function validateDomainPrefixedPath(text: string, field: string): readonly FieldError[] {
  if (text === '') return [required(field, '')];
  const slash = text.indexOf('/');
  const [host, path] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (host === '' || path === '') {
    return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  return [
    ...invalidBecause(field, host, dns1123SubdomainProblems(host)),
    ...(urlPathPattern.test(path) ? [] : [invalid(field, path, URL_PATH_PROBLEM)]),
  ];
}

export function validateIngressClass(object: KubeObject): readonly FieldError[] {
  const { controller = '', parameters } = specOf(object);
  return [
    ...(controller.length > MAX_CONTROLLER_LENGTH ? [tooLong('spec.controller', MAX_CONTROLLER_LENGTH)] : []),
    ...validateDomainPrefixedPath(controller, 'spec.controller'),
    ...validateTypedReference(parameters, 'spec.parameters'),
  ];
}

/** Who serves the class cannot change under its ingresses. */
export function validateIngressClassUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateUnchanged(specOf(object).controller ?? '', specOf(old).controller ?? '', 'spec.controller'),
    ...validateIngressClass(object),
  ];
}
