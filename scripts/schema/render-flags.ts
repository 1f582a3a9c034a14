/** TypeScript for the flags of the API server, from their table. */

import type { Flag, FlagTable, FlagType } from '../../src/flags/flag-table';

const TYPES: Readonly<Record<FlagType, string>> = {
  string: 'string',
  strings: 'string | readonly string[]',
  stringArray: 'string | readonly string[]',
  int: 'number',
  float: 'number',
  port: 'number',
  bool: 'boolean',
  duration: 'string',
  map: 'string | Readonly<Record<string, string | boolean>>',
  pairs: 'string | Readonly<Record<string, string>>',
};

/** An interface with a property for each flag but `left`, under which its help stands. */
export function renderFlags(table: FlagTable, left: readonly string[]): string {
  const flags = Object.entries(table).filter(([name]) => !left.includes(name));
  const properties = flags.map(
    ([name, flag]) => `${comment(flag)}  readonly '${name}'?: ${TYPES[flag.type]} | undefined;\n`,
  );
  return `/** Flags of \`sternpost apiserver\` by name; durations are texts such as \`1m30s\`. */
export interface ApiServerFlags {
${properties.join('')}}
`;
}

function comment({ help, default: value }: Flag): string {
  const standard = value === undefined || value === '' ? '' : ` Default: ${value}.`;
  const text = `${help}${/[.!?]$/.test(help) ? '' : '.'}${standard}`.replaceAll('*/', '*\\/');
  return `  /** ${text} */\n`;
}
