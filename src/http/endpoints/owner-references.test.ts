import type { OwnerReference } from '../../api/object';
import { withoutDuplicateOwners } from './owner-references';

const owner = (uid: string, name = uid): OwnerReference => ({ apiVersion: 'v1', kind: 'Node', name, uid });

function clean(owners: readonly OwnerReference[], found: 'sent' | 'admitted' = 'sent') {
  const warnings: string[] = [];
  const object = { metadata: { name: 'a', ownerReferences: owners } };
  const result = withoutDuplicateOwners(object, found, { warn: (text) => warnings.push(text) });
  return { unchanged: result === object, owners: result.metadata.ownerReferences, warnings };
}

describe('owner references', () => {
  it('stay as they are when each is there once', () => {
    expect(clean([owner('u'), owner('v')])).toMatchObject({ unchanged: true, warnings: [] });
  });

  it('that share a uid but differ otherwise both stay', () => {
    expect(clean([owner('u', 'a'), owner('u', 'b')])).toMatchObject({ unchanged: true, warnings: [] });
  });

  it('that repeat others go, with a warning that names each repetition', () => {
    const { owners, warnings } = clean([owner('u'), owner('v'), owner('u'), owner('v'), owner('u')]);
    expect(owners).toEqual([owner('u'), owner('v')]);
    expect(warnings).toEqual([
      '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may ' +
        'reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, v, u',
    ]);
  });

  it('that admission has doubled are told apart', () => {
    const { warnings } = clean([owner('u'), owner('u')], 'admitted');
    expect(warnings).toEqual([expect.stringContaining('contains duplicate entries after mutating admission happens')]);
  });
});
