import { CATALOGUE } from '../../api/kinds/catalogue';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { bodyOf, OpenApiDocuments } from './openapi-documents';

const [lease, role] = ['Lease', 'Role'].map((name) => CATALOGUE.find(({ kind }) => kind === name)!) as [
  KindDefinition,
  KindDefinition,
];
const LEASES = { group: 'coordination.k8s.io', version: 'v1' };
const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1' };

/** What is served, and how often what is printed was asked for. */
class Served {
  definitions: readonly KindDefinition[] = [lease, role];
  generation = 1;
  groupVersions = [LEASES, ROLES];
  prints = 0;
  readonly documents = new OpenApiDocuments({
    schema: loadBuiltinSchema(),
    info: { title: 'Kubernetes', version: 'v1' },
    generation: () => this.generation,
    definitions: () => this.definitions,
    custom: () => {
      this.prints += 1;
      return new Map();
    },
    groupVersions: () => this.groupVersions,
  });

  change(definitions: readonly KindDefinition[]): void {
    this.definitions = definitions;
    this.generation += 1;
  }
}

it('are printed once, whoever asks', async () => {
  const served = new Served();
  const [one, other] = await Promise.all([served.documents.v3(LEASES), served.documents.v3(LEASES)]);
  expect(one).toBe(other);
  await served.documents.v3Index();
  await served.documents.v3Index();
  expect(served.prints).toBe(2);
});

it('of other groups stay as they are when a kind changes', async () => {
  const served = new Served();
  const before = await served.documents.v3(LEASES);
  await served.documents.v3Index();
  served.prints = 0;
  served.change([lease, { ...role, shortNames: ['r'], subresources: [] }]);
  expect(await served.documents.v3(LEASES)).toBe(before);
  expect(served.prints).toBe(0);
  await served.documents.v3Index();
  expect(served.prints).toBe(1);
});

it('stay as they are when what has changed does not show in them', async () => {
  const served = new Served();
  const before = await served.documents.v2();
  served.change([lease, role]);
  expect(await served.documents.v2()).toBe(before);
  expect(served.prints).toBe(1);
  // Printed anew, and the same.
  served.change([lease, { ...role }]);
  expect(await served.documents.v2()).toBe(before);
  expect(served.prints).toBe(2);
});

it('are of what is served now', async () => {
  const served = new Served();
  const before = await served.documents.v3Index();
  served.change([lease]);
  served.groupVersions = [LEASES];
  const after = await served.documents.v3Index();
  expect(String(await bodyOf(before))).toContain('rbac');
  expect(String(await bodyOf(after))).not.toContain('rbac');
  served.change([lease, role]);
  served.groupVersions = [LEASES, ROLES];
  expect((await served.documents.v3Index()).etag).toBe(before.etag);
});

it('are put together once for all that they are sent to at a time', async () => {
  const document = await new Served().documents.v2();
  const [one, other] = await Promise.all([bodyOf(document), bodyOf(document)]);
  expect(other).toBe(one);
  expect(await bodyOf(document)).toBe(one);
  expect(one.equals(Buffer.concat(document.pieces))).toBe(true);
});
