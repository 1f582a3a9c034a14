import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import type { Container, HTTPGetAction, Lifecycle, LifecycleHandler, Probe } from '../../schema/generated/core-v1';
import { validateNonNegative, type IntOrString } from '../numbers';
import { portNameProblems, portNumberProblems, validatePortNumber } from '../ports';
import { patternProblem } from '../syntax-error';
import { invalidBecause, validateOneOf, validatePresent } from './field-rules';
import { checkEach } from '../check-each';

const SCHEMES = ['HTTP', 'HTTPS'];
const HEADER_NAME = '[-A-Za-z0-9]+';
const headerNamePattern = new RegExp(`^${HEADER_NAME}$`);
const HEADER_NAME_PROBLEM = patternProblem(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  HEADER_NAME,
  'X-Header-Name',
);

/** A port's number, or the name of one of the container's ports. */
function validatePortReference(port: IntOrString | undefined, field: string): readonly FieldError[] {
  if (typeof port === 'string') return invalidBecause(field, port, portNameProblems(port));
  return invalidBecause(field, port ?? 0, portNumberProblems(port ?? 0));
}

function validateHttpGet(action: HTTPGetAction, path: string): readonly FieldError[] {
  const { scheme = '', httpHeaders = [] } = action;
  return [
    ...validatePresent(action.path, `${path}.path`),
    ...validatePortReference(action.port, `${path}.port`),
    ...validateOneOf(scheme, SCHEMES, `${path}.scheme`),
    ...checkEach(httpHeaders, ({ name = '' }) =>
      headerNamePattern.test(name) ? [] : [invalid(`${path}.httpHeaders`, name, HEADER_NAME_PROBLEM)],
    ),
  ];
}

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>;

const HANDLERS: { readonly [Name in keyof Handler]-?: (handler: Handler, path: string) => readonly FieldError[] } = {
  exec: ({ exec }, path) => ((exec?.command ?? []).length === 0 ? [required(`${path}.command`, '')] : []),
  httpGet: ({ httpGet }, path) => validateHttpGet(httpGet ?? {}, path),
  tcpSocket: ({ tcpSocket }, path) => validatePortReference(tcpSocket?.port, `${path}.port`),
  grpc: ({ grpc }, path) => validatePortNumber(grpc?.port ?? 0, `${path}.port`),
  sleep: ({ sleep }, path) => validateNonNegative(sleep?.seconds, `${path}.seconds`),
};
const HANDLER_NAMES = Object.keys(HANDLERS) as readonly (keyof Handler)[];

/** Exactly one way of doing it; only the first that is given is looked into. */
function validateHandler(handler: Handler, path: string): readonly FieldError[] {
  const given = HANDLER_NAMES.filter((name) => handler[name] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap((name, index) =>
    index === 0
      ? HANDLERS[name](handler, `${path}.${name}`)
      : [forbiddenField(`${path}.${name}`, 'may not specify more than 1 handler type')],
  );
}

function validateProbe(probe: Probe | undefined, path: string): readonly FieldError[] {
  if (probe === undefined) return [];
  const grace = probe.terminationGracePeriodSeconds;
  return [
    ...validateHandler(probe, path),
    ...validateNonNegative(probe.initialDelaySeconds, `${path}.initialDelaySeconds`),
    ...validateNonNegative(probe.timeoutSeconds, `${path}.timeoutSeconds`),
    ...validateNonNegative(probe.periodSeconds, `${path}.periodSeconds`),
    ...validateNonNegative(probe.successThreshold, `${path}.successThreshold`),
    ...validateNonNegative(probe.failureThreshold, `${path}.failureThreshold`),
    ...(grace !== undefined && grace <= 0
      ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}

/** A container that is to be restarted on failure need succeed only once. */
function validateRestartingProbe(probe: Probe | undefined, path: string): readonly FieldError[] {
  const threshold = probe?.successThreshold ?? 0;
  return [
    ...validateProbe(probe, path),
    ...(probe !== undefined && threshold !== 1 ? [invalid(`${path}.successThreshold`, threshold, 'must be 1')] : []),
  ];
}

export function validateLivenessProbes(
  { livenessProbe, startupProbe }: Container,
  path: string,
): readonly FieldError[] {
  return [
    ...validateRestartingProbe(livenessProbe, `${path}.livenessProbe`),
    ...validateRestartingProbe(startupProbe, `${path}.startupProbe`),
  ];
}

export function validateReadinessProbe({ readinessProbe }: Container, path: string): readonly FieldError[] {
  const grace = readinessProbe?.terminationGracePeriodSeconds;
  const field = `${path}.readinessProbe`;
  return [
    ...validateProbe(readinessProbe, field),
    // Nothing is terminated when a container is not ready.
    ...(grace === undefined
      ? []
      : [invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes')]),
  ];
}

export function validateLifecycle(lifecycle: Lifecycle | undefined, path: string): readonly FieldError[] {
  const { postStart, preStop } = lifecycle ?? {};
  return [
    ...(postStart ? validateHandler(postStart, `${path}.postStart`) : []),
    ...(preStop ? validateHandler(preStop, `${path}.preStop`) : []),
  ];
}
