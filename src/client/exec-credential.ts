import { execFile, type ExecFileException } from 'node:child_process';
import { resolve } from 'node:path';
import type { ExecConfig } from './kubeconfig-file';

/** What a credential plugin printed. */
export interface ExecCredential {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

/** The cluster, for plugins that want to know it (`provideClusterInfo`). */
export interface ExecCluster {
  readonly server: string;
  readonly certificateAuthority?: string;
}

interface PluginOutput {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Credentials of an external command (spec, "Client credential plugin"): asked for when they are needed, kept until they
 * expire or `forget` is called because the server refused them.
 */
export class ExecCredentials {
  readonly #config: ExecConfig;
  readonly #cluster: ExecCluster;
  #known: Promise<ExecCredential> | undefined;
  #expiresAt = Infinity;

  constructor(config: ExecConfig, cluster: ExecCluster) {
    this.#config = config;
    this.#cluster = cluster;
  }

  current(): Promise<ExecCredential> {
    if (Date.now() >= this.#expiresAt) this.forget();
    this.#known ??= this.#run().catch((error: unknown) => {
      this.forget();
      throw error;
    });
    return this.#known;
  }

  forget(): void {
    this.#known = undefined;
    this.#expiresAt = Infinity;
  }

  async #run(): Promise<ExecCredential> {
    const output = await runPlugin(this.#config, this.#cluster);
    const { status } = output;
    if (output.kind !== 'ExecCredential' || output.apiVersion !== this.#config.apiVersion) {
      throw new Error(
        `exec plugin is configured to use API version ${this.#config.apiVersion}, ` +
          `plugin returned version ${output.apiVersion ?? ''}`,
      );
    }
    if (status === undefined) throw new Error("exec plugin didn't return a status field");
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
    if (!token && !(clientCertificateData && clientKeyData)) {
      throw new Error("exec plugin didn't return a token or cert/key pair");
    }
    if (Boolean(clientCertificateData) !== Boolean(clientKeyData)) {
      throw new Error('exec plugin returned only certificate or key, not both');
    }
    this.#expiresAt = expirationTimestamp === undefined ? Infinity : Date.parse(expirationTimestamp);
    return {
      ...(token === undefined ? {} : { token }),
      ...(clientCertificateData === undefined ? {} : { clientCertificate: clientCertificateData }),
      ...(clientKeyData === undefined ? {} : { clientKey: clientKeyData }),
    };
  }
}

function runPlugin(config: ExecConfig, { server, certificateAuthority }: ExecCluster): Promise<PluginOutput> {
  const { apiVersion, args, env, provideClusterInfo } = config;
  const cluster = {
    server,
    ...(certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }),
  };
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false, ...(provideClusterInfo ? { cluster } : {}) },
  };
  return new Promise((resolvePromise, reject) => {
    execFile(
      commandOf(config),
      [...args],
      { env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }, maxBuffer: MAX_OUTPUT_BYTES },
      (error, stdout) => {
        if (error !== null) {
          reject(new Error(explain(config, error)));
          return;
        }
        try {
          resolvePromise(JSON.parse(stdout) as PluginOutput);
        } catch {
          reject(new Error(`exec: ${config.command} printed no ExecCredential`));
        }
      },
    );
  });
}

/** Its output may hold what is secret: only how it ended is told. */
function explain({ command, installHint }: ExecConfig, { code, signal }: ExecFileException): string {
  if (String(code) !== 'ENOENT') return `exec: executable ${command} failed: ${code ?? signal ?? 'unknown'}`;
  return `exec: executable ${command} not found${installHint === '' ? '' : `\n\n${installHint}`}`;
}

/** A relative path is one of the configuration's folder; a bare name is looked up in PATH. */
function commandOf({ command, directory }: ExecConfig): string {
  return command.includes('/') ? resolve(directory, command) : command;
}
