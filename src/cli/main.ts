#!/usr/bin/env node
import './require-node';
import './v8-flags';
import { apiserverCommand } from './apiserver-command';
import { compactCommand } from './compact-command';
import { controllerManagerCommand } from './controller-manager-command';
import { devCommand } from './dev-command';
import { UsageError } from './flag-table';
import { migrateCommand } from './migrate-command';
import { kubeconfigCommand } from './kubeconfig-command';
import { VERSION } from './version';

const HELP = `Sternpost ${VERSION}: a Kubernetes API server.

Usage:
  sternpost dev [flags]         a control plane in one process on .sternpost/, with a kubeconfig
  sternpost apiserver [flags]   the API server, with kube-apiserver's flags
  sternpost migrate [flags]     copies a registry from one store to another
  sternpost compact [flags]     makes the file of an embedded store smaller
  sternpost version             the version

"sternpost <command> --help" lists the flags of a command.
`;

const commands: ReadonlyMap<string, (argv: readonly string[]) => Promise<void>> = new Map(
  Object.entries({
    dev: devCommand,
    apiserver: apiserverCommand,
    'controller-manager': controllerManagerCommand,
    kubeconfig: kubeconfigCommand,
    migrate: migrateCommand,
    compact: compactCommand,
    version: async () => void process.stdout.write(`${VERSION}\n`),
    help: async () => void process.stdout.write(HELP),
  }),
);

async function main(): Promise<void> {
  const [name = 'help', ...argv] = process.argv.slice(2);
  const command = commands.get(name.replace(/^--?/, ''));
  if (command === undefined) {
    process.stderr.write(`unknown command ${JSON.stringify(name)}\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  try {
    await command(argv);
  } catch (error) {
    process.stderr.write(`${error instanceof UsageError ? error.message : `sternpost: ${(error as Error).message}`}\n`);
    // What was opened before the failure must not keep the process.
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

void main();
