import type { CountedServer, Prepared, Sent } from '../counted-server';
import { FIRST } from '../grown-objects';
import type { Sizes } from '../subject';

/** A request of which one part is of a given size. */
export interface RequestSubject {
  /** What it is answered with; several where a bound ends the growth. */
  readonly status: number | readonly number[];
  /** Absent: the usual ones. */
  readonly sizes?: Sizes;
  readonly prepare: (count: number, server: CountedServer) => Promise<Prepared>;
}

/** Where there have to be as many objects before. */
export const FEW: Sizes = { smallest: 4, doublings: 6 };
export const RBAC = '/apis/rbac.authorization.k8s.io/v1';
export const DRY = 'dryRun=All';

export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => FIRST + index);
}

export function byNumber<T>(count: number, valueOf: (number: number) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(numbers(count).map((number) => [`k-${number}`, valueOf(number)]));
}

export function subject(
  status: RequestSubject['status'],
  method: string,
  make: (count: number) => Sent & { readonly path: string },
  before?: (count: number, server: CountedServer) => Promise<void>,
  sizes?: Sizes,
): RequestSubject {
  return {
    status,
    ...(sizes === undefined ? {} : { sizes }),
    prepare: async (count, server) => {
      await before?.(count, server);
      const { path, ...sent } = make(count);
      return server.prepare(method, path, sent);
    },
  };
}

/** A namespace for each size, with objects of it. */
export async function inNamespace(
  server: CountedServer,
  name: string,
  objects: readonly (readonly [path: string, object: object])[],
  metadata: object = {},
): Promise<void> {
  await server.create('/api/v1/namespaces', { metadata: { name, ...metadata } });
  await server.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
  for (const [path, object] of objects) await server.create(path, object);
}

export const names = (count: number, prefix = 'n'): readonly string[] =>
  numbers(count).map((number) => `${prefix}-${number}`);
export const container = (name: string, more: object = {}): object => ({ name, image: 'a', ...more });
export const pod = (spec: object): object => ({
  metadata: { name: 'p' },
  spec: { serviceAccountName: 'default', automountServiceAccountToken: false, containers: [container('c')], ...spec },
});
export const podIn = (namespace: string, spec: object): Sent & { readonly path: string } => ({
  path: `/api/v1/namespaces/${namespace}/pods?${DRY}`,
  body: pod(spec),
});
export const rulesOn = (resources: readonly string[]): readonly object[] =>
  resources.map((resource) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] }));
