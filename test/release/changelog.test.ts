import { nextVersionProblem, releasedChangelog, unreleasedSection } from '../../scripts/release/changelog';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- One.\n- Two,\n  in two lines.\n\n## 0.1.0 (2026-01-01)\n\n- First.\n';

describe('a release', () => {
  it('takes what is unreleased, and leaves an empty section', () => {
    expect(unreleasedSection(CHANGELOG)).toBe('- One.\n- Two,\n  in two lines.');
    const released = releasedChangelog(CHANGELOG, '0.2.0', new Date('2026-02-03T04:05:06Z'));
    expect(unreleasedSection(released)).toBe('');
    expect(released).toContain('## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n- One.\n');
    expect(released).toContain('## 0.1.0 (2026-01-01)\n\n- First.\n');
  });

  it.each(['0.1.10', '0.2.0', '1.0.0'])('may be %s after 0.1.9', (version) => {
    expect(nextVersionProblem('0.1.9', version)).toBeUndefined();
  });

  it.each(['0.1.9', '0.1.11', '0.1.8', '0.3.0', 'v0.2.0', '', '--help'])('may not be %j after 0.1.9', (version) => {
    expect(nextVersionProblem('0.1.9', version)).toContain('after 0.1.9 comes');
  });
});
