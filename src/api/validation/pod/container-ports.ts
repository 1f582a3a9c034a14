import { duplicate, invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { Container, ContainerPort } from '../../schema/generated/core-v1';
import { portNameProblems, validatePortNumber } from '../ports';
import { invalidBecause, validateRequiredOneOf } from './field-rules';

/** In the order in which messages list them. */
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validatePortName(name: string, taken: Set<string>, field: string): readonly FieldError[] {
  if (name === '') return [];
  const problems = portNameProblems(name);
  if (problems.length > 0) return invalidBecause(field, name, problems);
  if (taken.has(name)) return [duplicate(field, name)];
  taken.add(name);
  return [];
}

export function validateContainerPorts(
  ports: readonly ContainerPort[] | undefined,
  path: string,
): readonly FieldError[] {
  const names = new Set<string>();
  return checkEach(ports, ({ name = '', containerPort = 0, hostPort = 0, protocol }, index) => {
    const field = `${path}[${index}]`;
    return [
      ...validatePortName(name, names, `${field}.name`),
      ...(containerPort === 0
        ? [required(`${field}.containerPort`, '')]
        : validatePortNumber(containerPort, `${field}.containerPort`)),
      ...(hostPort === 0 ? [] : validatePortNumber(hostPort, `${field}.hostPort`)),
      ...validateRequiredOneOf(protocol, PROTOCOLS, `${field}.protocol`),
    ];
  });
}

/** Containers that run side by side cannot listen on the same port of the node. */
export function validateHostPortConflicts(containers: readonly Container[], path: string): readonly FieldError[] {
  const taken = new Set<string>();
  return checkEach(containers, ({ ports }, container) =>
    checkEach(ports, ({ hostPort = 0, protocol = '', hostIP = '' }, index) => {
      if (hostPort === 0) return [];
      const address = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(address)) return [duplicate(`${path}[${container}].ports[${index}].hostPort`, address)];
      taken.add(address);
      return [];
    }),
  );
}

/** With the node's network, a port of the container is a port of the node. */
export function validateHostNetworkPorts(containers: readonly Container[], path: string): readonly FieldError[] {
  return checkEach(containers, ({ ports }, container) =>
    checkEach(ports, ({ hostPort = 0, containerPort = 0 }, index) =>
      hostPort === containerPort
        ? []
        : [
            invalid(
              `${path}[${container}].ports[${index}].containerPort`,
              containerPort,
              'must match `hostPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
}
