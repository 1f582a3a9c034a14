import { compareVersions } from './version-order';

describe('the order of versions', () => {
  it('prefers what is stable, then what is newer, then what comes first by name', () => {
    const versions = [
      'foo10',
      'v1alpha1',
      'v12alpha1',
      'v10beta3',
      'v1',
      'v11beta2',
      'v3beta1',
      'v2',
      'foo1',
      'v10',
      'v11alpha2',
    ];
    expect(versions.sort(compareVersions)).toEqual([
      'v10',
      'v2',
      'v1',
      'v11beta2',
      'v10beta3',
      'v3beta1',
      'v12alpha1',
      'v11alpha2',
      'v1alpha1',
      'foo1',
      'foo10',
    ]);
  });
});
