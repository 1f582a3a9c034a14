import { invalid, notSupported, type FieldError } from '../errors/field-error';

export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;

const PORT_NAME_MAX_LENGTH = 15;
const MAX_PORT = 65_535;

/** Empty list: a port number. */
export function portNumberProblems(port: number): readonly string[] {
  return port >= 1 && port <= MAX_PORT ? [] : [`must be between 1 and ${MAX_PORT}, inclusive`];
}

/** RFC 6335, section 5.1: names of services. Empty list: valid. */
export function portNameProblems(name: string): readonly string[] {
  return [
    ...(name.length > PORT_NAME_MAX_LENGTH ? [`must be no more than ${PORT_NAME_MAX_LENGTH} characters`] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter or number (a-z, 0-9)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(name.startsWith('-') || name.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
  ];
}

export function validatePortNumber(port: number, field: string): readonly FieldError[] {
  return portNumberProblems(port).map((problem) => invalid(field, port, problem));
}

export function validatePortName(name: string, field: string): readonly FieldError[] {
  return portNameProblems(name).map((problem) => invalid(field, name, problem));
}

export function validateProtocol(protocol: string, field: string): readonly FieldError[] {
  return (PROTOCOLS as readonly string[]).includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}
