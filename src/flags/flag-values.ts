/** A flag's value as a program writes it: durations and the like are texts, as on a command line. */
export type FlagValue =
  string | number | boolean | readonly string[] | Readonly<Record<string, string | number | boolean>>;

/** Flags by name, without dashes; undefined is as if it were not there. */
export type FlagValues = Readonly<Record<string, FlagValue | undefined>>;

/** The command line that says the same. */
export function flagArguments(flags: FlagValues): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : texts(value).map((text) => `--${name}=${text}`),
  );
}

function texts(value: FlagValue): readonly string[] {
  if (typeof value !== 'object') return [String(value)];
  const list = isList(value) ? value : Object.entries(value).map(([key, one]) => `${key}=${one}`);
  return list.length === 0 ? [''] : list;
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}
