import { join } from 'node:path';
import { parseArgs } from 'node:util';

const FAMILIES = ['start', 'first', 'read', 'list', 'write', 'webhook', 'audit', 'watch', 'overload', 'scale'];

export const HELP = `Measures Sternpost, and any kube-apiserver beside it, on this machine.

Usage: npm run bench -- [options]

  --etcd [PATH]          on an etcd that the run starts (default: etcd of the PATH); else on the embedded store
  --etcd3                 Sternpost with --etcd-client=etcd3 too, as a server of its own; implies --etcd
  --peer PATH            a kube-apiserver binary to compare with, on the same etcd; implies --etcd
  --only a,b             families (${FAMILIES.join(', ')}) or scenarios (get-rv0, list-gzip, put-16 ...)
  --rounds N             how often everything is measured, alternating; the median counts (default 3)
  --seconds N            at most so long for each measurement (default 5)
  --short                one round of one second with few objects: to see that everything works
  --objects N            objects in the lists (default 3000)
  --bytes N              size of an object as JSON (default 1500)
  --scale-objects N      objects of the family "scale" (default 100000)
  --first-writes N       how many writes count as the first ones after a start (default 5000)
  --output DIR           where results.json and results.svg go (default benchmarks/results)
  --main FILE            the built command (default dist/cli/main.js)
  --node-args="A B"      for the node of Sternpost, such as --cpu-prof
  --keep                 keep the temporary folder with logs and data
  --help
`;

export interface BenchmarkOptions {
  readonly help: boolean;
  readonly etcd: string | undefined;
  readonly etcd3: boolean;
  readonly peer: string | undefined;
  readonly wants: (family: string, scenario?: string) => boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpMs: number;
  readonly objects: number;
  readonly bytes: number;
  readonly firstWrites: number;
  readonly scaleObjects: number;
  /** Bounds what one measurement leaves in the store. */
  readonly maxWrites: number;
  readonly output: string;
  readonly main: string;
  readonly nodeArgs: readonly string[];
  readonly keep: boolean;
}

/** The options of a run. Throws an Error whose message is for the user. */
export function parseOptions(argv: readonly string[]): BenchmarkOptions {
  const { values } = parseArgs({
    args: withDefaultEtcd(argv),
    options: {
      etcd: { type: 'string' },
      etcd3: { type: 'boolean', default: false },
      peer: { type: 'string' },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      short: { type: 'boolean', default: false },
      objects: { type: 'string' },
      bytes: { type: 'string' },
      'first-writes': { type: 'string' },
      'scale-objects': { type: 'string' },
      output: { type: 'string' },
      main: { type: 'string' },
      'node-args': { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { short } = values;
  const only = values.only?.split(',');
  const number = (name: NumberOption, usual: number, quick = usual) =>
    positive(name, values[name], short ? quick : usual);
  const seconds = number('seconds', 5, 1);
  return {
    help: values.help,
    etcd: values.etcd ?? (values.peer === undefined && !values.etcd3 ? undefined : 'etcd'),
    etcd3: values.etcd3,
    peer: values.peer,
    wants: (family, scenario) =>
      only === undefined || only.includes(family) || (scenario !== undefined && only.includes(scenario)),
    rounds: number('rounds', 3, 1),
    seconds,
    warmUpMs: seconds * 200,
    objects: number('objects', 3000, 300),
    bytes: number('bytes', 1500),
    firstWrites: number('first-writes', 5000, 500),
    scaleObjects: number('scale-objects', 100_000, 2000),
    maxWrites: Math.ceil(seconds * 4000),
    output: values.output ?? join(__dirname, 'results'),
    main: values.main ?? join(__dirname, '..', 'dist', 'cli', 'main.js'),
    nodeArgs: values['node-args']?.split(' ') ?? [],
    keep: values.keep,
  };
}

type NumberOption = 'rounds' | 'seconds' | 'objects' | 'bytes' | 'first-writes' | 'scale-objects';

/** `--etcd` alone is `--etcd etcd`. */
function withDefaultEtcd(argv: readonly string[]): string[] {
  return argv.flatMap((argument, index) => {
    const alone = argument === '--etcd' && (argv[index + 1]?.startsWith('-') ?? true);
    return alone ? ['--etcd', 'etcd'] : [argument];
  });
}

function positive(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${JSON.stringify(text)}`);
  return value;
}
