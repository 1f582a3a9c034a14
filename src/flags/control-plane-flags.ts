import { apiserverFlags } from './apiserver-flags';
import { UsageError, parseFlags, type Flag, type FlagTable, type ParsedFlags } from './flag-table';
import { ignoredFlags } from './ignored-flags';
import { unbuiltFlags } from './unbuilt-flags';

/** What makes an API server a control plane for one machine and its user. */
const DEFAULTS = {
  'bind-address': '127.0.0.1',
  'advertise-address': '127.0.0.1',
  'authorization-mode': 'Node,RBAC',
  'enable-bootstrap-token-auth': 'true',
} as const satisfies Partial<Record<keyof typeof apiserverFlags, string>>;

/** The flags of `sternpost apiserver` with the defaults of a control plane in one process. */
export const controlPlaneFlags = withDefaults(apiserverFlags, DEFAULTS);

/** What only a command can do. */
export const COMMAND_FLAGS = ['help', 'version', 'workers'] as const;

function withDefaults<Table extends FlagTable>(table: Table, defaults: Readonly<Record<string, string>>): Table {
  const changed = Object.entries(defaults).map(([name, value]) => [name, { ...(table[name] as Flag), default: value }]);
  return { ...table, ...(Object.fromEntries(changed) as Partial<Table>) };
}

/** Throws {@link UsageError} with what is wrong with the flags, as the command says it. */
export function parseControlPlaneFlags(argv: readonly string[]): ParsedFlags<typeof apiserverFlags> {
  const parsed = parseFlags(controlPlaneFlags, argv, ignoredFlags, unbuiltFlags);
  const foreign = COMMAND_FLAGS.filter((name) => parsed.given.has(name));
  if (foreign.length > 0) throw new UsageError(foreign.map((name) => `flag --${name} is for the command`));
  return parsed;
}
