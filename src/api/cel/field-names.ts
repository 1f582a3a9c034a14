/** How expressions name fields whose names are words or signs of the language. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const SIGNS: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const ACCESSIBLE = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/;

/** `x-prop` is `x__dash__prop`. Undefined: no expression can name the field. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  return ACCESSIBLE.test(name) ? name.replace(/__|[.\-/]/g, (sign) => SIGNS[sign] ?? sign) : undefined;
}
