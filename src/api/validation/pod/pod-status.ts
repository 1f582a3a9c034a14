import { isIP } from 'node:net';
import { duplicate, forbiddenField, invalid, type FieldError } from '../../errors/field-error';
import type { ContainerStatus, PodSpec, PodStatus } from '../../schema/generated/core-v1';
import { repetitions } from '../repetitions';
import { checkEach } from '../check-each';

const ADDRESS_PROBLEM = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** At most one address of each family. */
export function validatePodIps(status: PodStatus | undefined): readonly FieldError[] {
  const field = 'status.podIPs';
  const addresses = (status?.podIPs ?? []).map(({ ip = '' }) => ip);
  const wrong = addresses.flatMap((address, index) =>
    isAddress(address) ? [] : [invalid(`${field}[${index}]`, address, ADDRESS_PROBLEM)],
  );
  if (addresses.length < 2) return wrong;
  const families = new Set(addresses.map((address) => isIP(address)));
  const repeated = repetitions(addresses);
  return [
    ...wrong,
    ...(addresses.length > 2 || families.size < 2
      ? [invalid(field, status?.podIPs, 'may specify no more than one IP for each IP family')]
      : []),
    ...addresses.flatMap((address, index) => (repeated[index] ? [duplicate(`${field}[${index}]`, address)] : [])),
  ];
}

/** A container that has ended for good does not run again. `always`: names of containers that are always restarted. */
export function validateTransitions(
  statuses: readonly ContainerStatus[] | undefined,
  old: readonly ContainerStatus[] | undefined,
  { restartPolicy }: PodSpec,
  always: ReadonlySet<string>,
  path: string,
): readonly FieldError[] {
  if (restartPolicy === 'Always') return [];
  const running = new Set(
    (statuses ?? []).filter((status) => status.state?.terminated === undefined).map(({ name = '' }) => name),
  );
  return checkEach(old, ({ name = '', state }, index) => {
    const terminated = state?.terminated;
    if (terminated === undefined || always.has(name)) return [];
    if ((terminated.exitCode ?? 0) !== 0 && restartPolicy === 'OnFailure') return [];
    return running.has(name)
      ? [forbiddenField(`${path}[${index}].state`, 'may not be transitioned to non-terminated state')]
      : [];
  });
}
