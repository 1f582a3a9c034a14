import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseYaml } from '../api/codec/yaml';
import type { PeerTls } from './peer-tls';

/** The command of a credential plugin (client.authentication.k8s.io). */
export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  /** What to tell a user who does not have the command. */
  readonly installHint: string;
  /** Relative commands are looked up here. */
  readonly directory: string;
}

/** As whom to come. */
export interface KubeconfigUser {
  readonly tls: PeerTls;
  readonly bearerToken?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecConfig;
}

/** Where a kubeconfig's current context leads, and as whom. */
export interface KubeconfigTarget extends KubeconfigUser {
  readonly url: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a kubeconfig (v1 Config, YAML or JSON), with the files it names, which are relative to it. Throws an error that
 * says what is missing.
 */
export function readKubeconfig(file: string): KubeconfigTarget {
  const directory = dirname(resolve(file));
  const config = readConfig(file);
  const contextName = textAt(config, 'current-context');
  const contexts = listAt(config, 'contexts');
  const clusters = listAt(config, 'clusters');
  const users = listAt(config, 'users');
  const context = mapAt(named(contexts, contextName) ?? contexts[0], 'context');
  const cluster = mapAt(
    named(clusters, textAt(context, 'cluster')) ?? (context === undefined ? clusters[0] : undefined),
    'cluster',
  );
  const user = mapAt(named(users, textAt(context, 'user')) ?? (context === undefined ? users[0] : undefined), 'user');
  const url = textAt(cluster, 'server');
  if (url === '') throw new Error(`${file}: no server in the current context`);
  const { tls, ...credentials } = readUser(user, directory);
  return {
    url,
    tls: {
      ...tls,
      ...withoutUndefined({
        certificateAuthority: readPem(cluster, 'certificate-authority', directory),
        serverName: textAt(cluster, 'tls-server-name') || undefined,
        insecure: cluster?.['insecure-skip-tls-verify'] === true ? true : undefined,
      }),
    },
    ...credentials,
  };
}

/**
 * The users of a kubeconfig by their names, and the one of its current context, for files that say as whom to come and not where.
 * Throws an error that says what is missing.
 */
export function readKubeconfigUsers(file: string): {
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly current: string | undefined;
} {
  const directory = dirname(resolve(file));
  const config = readConfig(file);
  const context = mapAt(named(listAt(config, 'contexts'), textAt(config, 'current-context')), 'context');
  const users = listAt(config, 'users').map(
    (entry) => [textAt(entry, 'name'), readUser(mapAt(entry, 'user'), directory)] as const,
  );
  return { users: new Map(users), current: textAt(context, 'user') || undefined };
}

function readUser(user: Json | undefined, directory: string): KubeconfigUser {
  const tokenFile = textAt(user, 'tokenFile');
  const token = textAt(user, 'token') || (tokenFile === '' ? '' : readNamed(tokenFile, 'tokenFile', directory).trim());
  const exec = mapAt(user, 'exec');
  const username = textAt(user, 'username');
  return {
    tls: withoutUndefined({
      clientCertificate: readPem(user, 'client-certificate', directory),
      clientKey: readPem(user, 'client-key', directory),
    }),
    ...(token === '' ? {} : { bearerToken: token }),
    ...(username === '' ? {} : { basic: { username, password: textAt(user, 'password') } }),
    ...(exec === undefined ? {} : { exec: execConfig(exec, directory) }),
  };
}

/** The file and those that it names: who changes one of them wants it read again. */
export function kubeconfigFiles(file: string): readonly string[] {
  const config = readConfig(file);
  const directory = dirname(resolve(file));
  const named = [
    ...listAt(config, 'clusters').map((entry) => textAt(mapAt(entry, 'cluster'), 'certificate-authority')),
    ...listAt(config, 'users').flatMap((entry) =>
      ['client-certificate', 'client-key', 'tokenFile'].map((name) => textAt(mapAt(entry, 'user'), name)),
    ),
  ];
  return [file, ...named.filter((path) => path !== '').map((path) => resolve(directory, path))];
}

function readPem(from: Json | undefined, name: string, directory: string): string | undefined {
  const inline = textAt(from, `${name}-data`);
  if (inline !== '') return Buffer.from(inline, 'base64').toString('utf8');
  const path = textAt(from, name);
  return path === '' ? undefined : readNamed(path, name, directory);
}

/** A file that a kubeconfig names by this key. */
function readNamed(path: string, key: string, directory: string): string {
  try {
    return readFileSync(resolve(directory, path), 'utf8');
  } catch (error) {
    throw new Error(`${key} of a kubeconfig cannot be read (${(error as Error).message})`, { cause: error });
  }
}

/** Throws an error that names the file when it is no kubeconfig at all. */
function readConfig(file: string): Json | undefined {
  const remedy = 'Name another file, or have one made with "sternpost kubeconfig"';
  let config: Json | undefined;
  try {
    config = mapOf(parseYaml(readFileSync(file, 'utf8')));
  } catch (error) {
    const [firstLine] = (error as Error).message.split('\n');
    throw new Error(`${file}: the kubeconfig cannot be read (${firstLine ?? ''}). ${remedy}`, { cause: error });
  }
  if (config === undefined) throw new Error(`${file}: this is no kubeconfig. ${remedy}`);
  return config;
}

/** The Authorization header of its token or password; undefined when it has neither. */
export function authorizationHeader({ bearerToken, basic }: KubeconfigUser): string | undefined {
  if (bearerToken !== undefined) return `Bearer ${bearerToken}`;
  if (basic === undefined) return undefined;
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
}

function execConfig(exec: Json, directory: string): ExecConfig {
  for (const required of ['command', 'apiVersion']) {
    if (textAt(exec, required) === '')
      throw new Error(`exec: ${required} must be specified to use exec authentication`);
  }
  return {
    apiVersion: textAt(exec, 'apiVersion'),
    command: textAt(exec, 'command'),
    args: (Array.isArray(exec.args) ? (exec.args as readonly unknown[]) : []).map(String),
    env: Object.fromEntries(listAt(exec, 'env').map((entry) => [textAt(entry, 'name'), textAt(entry, 'value')])),
    provideClusterInfo: exec.provideClusterInfo === true,
    installHint: textAt(exec, 'installHint'),
    directory,
  };
}

function mapOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function mapAt(map: Json | undefined, name: string): Json | undefined {
  return mapOf(map?.[name]);
}

function listAt(map: Json | undefined, name: string): readonly Json[] {
  const value = map?.[name];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textAt(map: Json | undefined, name: string): string {
  const value = map?.[name];
  return typeof value === 'string' ? value : '';
}

function named(list: readonly Json[], name: string): Json | undefined {
  return list.find((entry) => textAt(entry, 'name') === name);
}

function withoutUndefined(tls: { readonly [Name in keyof PeerTls]?: PeerTls[Name] | undefined }): PeerTls {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
