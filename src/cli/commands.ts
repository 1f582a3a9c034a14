import { apiserverCommand } from './apiserver-command';
import { certificatesCommand } from './certificates-command';
import { compactCommand } from './compact-command';
import { controllerManagerCommand } from './controller-manager-command';
import { devCommand } from './dev-command';
import { doctorCommand } from './doctor/doctor-command';
import { UsageError } from '../flags/flag-table';
import { migrateCommand } from './migrate-command';
import { kubeconfigCommand } from './kubeconfig-command';
import { rewriteCommand } from './rewrite-command';
import { nearestName } from '../flags/nearest-name';
import { VERSION } from '../apiserver/version';

interface Command {
  readonly run: (argv: readonly string[]) => Promise<void>;
  readonly takesFlags: boolean;
  readonly summary: string;
}

const withFlags = (run: Command['run'], summary: string): Command => ({ run, takesFlags: true, summary });
const printing = (text: () => string, summary: string): Command => ({
  run: async () => void process.stdout.write(text()),
  takesFlags: false,
  summary,
});

const commands: ReadonlyMap<string, Command> = new Map([
  ['dev', withFlags(devCommand, 'a control plane in one process on .sternpost/, with a kubeconfig')],
  ['apiserver', withFlags(apiserverCommand, "the API server, with kube-apiserver's flags")],
  ['controller-manager', withFlags(controllerManagerCommand, 'the controllers, as clients of an API server elsewhere')],
  ['kubeconfig', withFlags(kubeconfigCommand, 'prints a kubeconfig for a user, with a new client certificate')],
  ['certificates', withFlags(certificatesCommand, 'CAs, keys and certificates that several replicas share')],
  ['migrate', withFlags(migrateCommand, 'copies a registry from one store to another')],
  ['compact', withFlags(compactCommand, 'makes the file of an embedded store smaller')],
  ['rewrite', withFlags(rewriteCommand, 'writes stored objects again, after keys of encryption have changed')],
  ['doctor', withFlags(doctorCommand, 'what would keep "sternpost apiserver" with the same flags from serving')],
  ['version', printing(() => `${VERSION}\n`, 'the version')],
  ['help', printing(() => help(), 'this text')],
]);

function help(): string {
  const lines = [...commands].map(([name, { takesFlags, summary }]) => {
    const usage = `  sternpost ${name}${takesFlags ? ' [flags]' : ''}`;
    return `${usage.padEnd(40)}${summary}\n`;
  });
  return `Sternpost ${VERSION}: a Kubernetes API server.

Usage:
${lines.join('')}
"sternpost <command> --help" lists the flags of a command.
`;
}

/** Runs the command that the arguments name, and ends the process when it fails. */
export async function runCommand([name = 'help', ...argv]: readonly string[]): Promise<void> {
  const command = commands.get(name === '-h' ? 'help' : name.replace(/^--?/, ''));
  if (command === undefined) {
    const nearest = nearestName(name, commands.keys());
    const advice = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
    process.stderr.write(`unknown command ${JSON.stringify(name)}${advice}\n\n${help()}`);
    process.exitCode = 2;
    return;
  }
  try {
    await command.run(argv);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const advice = `"sternpost ${name} --help" lists its flags.`;
    process.stderr.write(isUsage ? `${error.message}\n${advice}\n` : `sternpost: ${(error as Error).message}\n`);
    // What was opened before the failure must not keep the process.
    process.exit(isUsage ? 2 : 1);
  }
}
