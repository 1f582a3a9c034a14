const UNRELEASED = '## Unreleased';
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** What stands under "Unreleased", without the title. */
export function unreleasedSection(changelog: string): string {
  const [, rest = ''] = changelog.split(`${UNRELEASED}\n`);
  return (rest.split('\n## ')[0] ?? '').trim();
}

/** The same entries under the version, and an empty section for the next one. */
export function releasedChangelog(changelog: string, version: string, date: Date): string {
  const title = `## ${version} (${date.toISOString().slice(0, 10)})`;
  return changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n${title}\n`);
}

/** A release follows the one before by one step: 0.1.9 is followed by 0.1.10, 0.2.0 or 1.0.0. */
export function nextVersionProblem(current: string, wanted: string): string | undefined {
  const [, major, minor, patch] = VERSION.exec(current) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return `${current} is no version`;
  const following = [
    `${major}.${minor}.${Number(patch) + 1}`,
    `${major}.${Number(minor) + 1}.0`,
    `${Number(major) + 1}.0.0`,
  ];
  return following.includes(wanted)
    ? undefined
    : `after ${current} comes ${following.join(', ')}, not ${JSON.stringify(wanted)}`;
}
