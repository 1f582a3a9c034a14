import { PLUGINS } from './plugin-table';
import { selectPlugins } from './select-plugins';

describe('selecting plugins', () => {
  it('has those of the specification on, and PodSecurity', () => {
    const { names, problems, warnings } = selectPlugins({ enable: [], disable: [] });
    expect(names).toEqual(PLUGINS.filter(({ on }) => on).map(({ name }) => name));
    expect(names).toContain('ResourceQuota');
    expect(names).not.toContain('NodeRestriction');
    expect([...problems, ...warnings]).toEqual([]);
  });

  it('turns plugins on and default ones off, whatever the order of the flags', () => {
    const { names } = selectPlugins({
      enable: ['ResourceQuota', 'NodeRestriction', 'AlwaysPullImages'],
      disable: ['ServiceAccount'],
    });
    expect(names).not.toContain('ServiceAccount');
    expect(names.indexOf('NodeRestriction')).toBeLessThan(names.indexOf('AlwaysPullImages'));
    expect(names.at(-1)).toBe('ResourceQuota');
  });

  it('tells what is wrong', () => {
    const { problems } = selectPlugins({
      enable: ['Nonsense', 'PodSecurityPolicy', 'LimitRanger'],
      disable: ['Rubbish', 'LimitRanger'],
    });
    expect(problems).toEqual([
      'enable-admission-plugins plugin "Nonsense" is unknown',
      'disable-admission-plugins plugin "Rubbish" is unknown',
      'admission plugin LimitRanger cannot be both enabled and disabled',
      'admission plugin PodSecurityPolicy is not supported: it is gone since 1.25: use PodSecurity',
    ]);
  });

  it('warns of deprecated ones', () => {
    const { warnings } = selectPlugins({ enable: ['AlwaysDeny', 'DenyEscalatingExec'], disable: [] });
    expect(warnings).toEqual([
      'admission plugin DenyEscalatingExec is deprecated since 1.13: use PodSecurity',
      'admission plugin AlwaysDeny is deprecated since 1.13: it has no use',
    ]);
  });
});
