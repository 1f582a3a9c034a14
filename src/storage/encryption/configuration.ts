import type { JsonObject, JsonValue } from '../../api/object';
import { parseDuration } from '../../api/time/duration';

/** Which keys a provider has, in the order of the file. */
export interface ProviderKey {
  readonly name: string;
  readonly secret: Buffer;
}

export type KeyedProvider = 'aescbc' | 'aesgcm' | 'secretbox';

/** A key management service on a Unix socket. */
export interface KmsProvider {
  readonly type: 'kms';
  readonly apiVersion: 'v1' | 'v2';
  readonly name: string;
  /** Path of the socket. */
  readonly socket: string;
  /** Of v1: how many keys of values are remembered; negative: none. */
  readonly cacheSize: number;
  readonly timeoutMs: number;
}

export type Provider =
  { readonly type: 'identity' } | { readonly type: KeyedProvider; readonly keys: readonly ProviderKey[] } | KmsProvider;

/** Resources (`secrets`, `deployments.apps`, `*.apps`, `*.`, `*.*`) and who writes (the first) and reads them. */
export interface EncryptedResources {
  readonly resources: readonly string[];
  readonly providers: readonly Provider[];
}

const KIND = 'EncryptionConfiguration';
const VERSIONS = ['apiserver.config.k8s.io/v1'];
const KEY_BYTES: Readonly<Record<KeyedProvider, readonly number[]>> = {
  aescbc: [16, 24, 32],
  aesgcm: [16, 24, 32],
  secretbox: [32],
};
const PROVIDERS = ['identity', 'aescbc', 'aesgcm', 'secretbox', 'kms'] as const;
const DEFAULT_CACHE_SIZE = 1000;
const DEFAULT_TIMEOUT_MS = 3000;

class Problems {
  readonly found: string[] = [];

  add(path: string, problem: string): void {
    this.found.push(`${path}: ${problem}`);
  }
}

/**
 * What an EncryptionConfiguration (apiserver.config.k8s.io/v1) says. Throws everything that is wrong with it, in kube-apiserver's
 * words, and no secrets.
 */
export function parseEncryptionConfiguration(document: JsonValue | undefined): readonly EncryptedResources[] {
  const configuration = objectOf(document);
  if (configuration.kind !== KIND || !VERSIONS.includes(textOf(configuration.apiVersion))) {
    throw new Error(`no kind ${JSON.stringify(KIND)} of ${VERSIONS.join(' or ')} was found in the file`);
  }
  const problems = new Problems();
  const resources = listOf(configuration.resources);
  if (resources.length === 0) problems.add('resources', 'Required value: at least one resource is required');
  const names = new Set<string>();
  const parsed = resources.map((one, index) => readResources(objectOf(one), `resources[${index}]`, problems, names));
  if (problems.found.length > 0) throw new Error(problems.found.join(', '));
  return parsed;
}

function readResources(
  { resources, providers }: JsonObject,
  path: string,
  problems: Problems,
  kmsNames: Set<string>,
): EncryptedResources {
  const wanted = listOf(resources).map(textOf);
  if (wanted.length === 0) problems.add(`${path}.resources`, 'Required value: at least one resource is required');
  wanted.forEach((name, index) => {
    const problem = problemOfResource(name, wanted);
    if (problem !== undefined) {
      problems.add(`${path}.resources[${index}]`, `Invalid value: ${JSON.stringify(name)}: ${problem}`);
    }
  });
  const given = listOf(providers);
  if (given.length === 0) problems.add(`${path}.providers`, 'Required value: at least one provider is required');
  return {
    resources: wanted,
    providers: given.flatMap((one, index) =>
      readProvider(objectOf(one), `${path}.providers[${index}]`, problems, kmsNames),
    ),
  };
}

function problemOfResource(name: string, all: readonly string[]): string | undefined {
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (name !== name.toLowerCase()) return 'resource name should not contain capital letters';
  if (name === '*.events.k8s.io' || name === 'events.events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  }
  if (name.endsWith('.extensions')) return "'extensions' group has been removed and cannot be used for encryption";
  if (/^\*\..*\*/.test(name) && name !== '*.*') return 'encrypting the same resource across groups is not supported';
  if (all.filter((one) => one === name).length > 1) return 'the same resource cannot be specified multiple times';
  const masked = all.some((other) => other !== name && covers(other, name));
  return masked
    ? "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
    : undefined;
}

/** Whether a pattern stands for the resource `name` (`deployments.apps`; `secrets` of the core group). */
export function covers(pattern: string, name: string): boolean {
  if (pattern === '*.*' || pattern === name) return true;
  if (!pattern.startsWith('*.')) return false;
  const dot = name.indexOf('.');
  return (dot < 0 ? '' : name.slice(dot + 1)) === pattern.slice(2);
}

function readProvider(one: JsonObject, path: string, problems: Problems, kmsNames: Set<string>): readonly Provider[] {
  const types = PROVIDERS.filter((type) => one[type] !== undefined);
  const [type] = types;
  if (type === undefined) {
    problems.add(
      path,
      'Invalid value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
    );
    return [];
  }
  if (types.length > 1) {
    problems.add(
      path,
      'Invalid value: more than one provider specified in a single element, should split into different list elements',
    );
    return [];
  }
  const settings = objectOf(one[type]);
  if (type === 'identity') return [{ type }];
  if (type === 'kms') return [readKms(settings, `${path}.kms`, problems, kmsNames)];
  const keys = listOf(settings.keys);
  if (keys.length === 0) problems.add(`${path}.${type}.keys`, 'Required value: at least one key is required');
  return [
    { type, keys: keys.map((key, index) => readKey(objectOf(key), type, `${path}.${type}.keys[${index}]`, problems)) },
  ];
}

function readKey({ name, secret }: JsonObject, type: KeyedProvider, path: string, problems: Problems): ProviderKey {
  const fail = (problem: string): void => problems.add(`${path}.secret`, `Invalid value: "REDACTED": ${problem}`);
  if (typeof name !== 'string' || name === '')
    problems.add(`${path}.name`, 'Required value: name is a mandatory field for a key');
  const bytes = typeof secret === 'string' ? Buffer.from(secret.trim(), 'base64') : Buffer.alloc(0);
  if (typeof secret !== 'string' || secret === '') {
    problems.add(`${path}.secret`, 'Required value: secret is a mandatory field for a key');
  } else if (bytes.toString('base64').replace(/=+$/, '') !== secret.trim().replace(/=+$/, '')) {
    fail('secrets must be base64 encoded');
  } else if (!KEY_BYTES[type].includes(bytes.length)) {
    fail(`secret is not of the expected length, got ${bytes.length}, expected one of [${KEY_BYTES[type].join(' ')}]`);
  }
  return { name: textOf(name), secret: bytes };
}

function readKms(settings: JsonObject, path: string, problems: Problems, names: Set<string>): KmsProvider {
  const { apiVersion = 'v1', name = '', endpoint = '', cachesize, timeout } = settings;
  if (apiVersion !== 'v1' && apiVersion !== 'v2') {
    problems.add(
      `${path}.apiVersion`,
      `Invalid value: ${JSON.stringify(apiVersion)}: unsupported apiVersion ${textOf(apiVersion)} for KMS provider, only v1 and v2 are supported`,
    );
  }
  if (typeof name !== 'string' || name === '') {
    problems.add(`${path}.name`, 'Required value: name is a mandatory field for a KMS provider');
  } else if (name.includes(':')) {
    problems.add(
      `${path}.name`,
      `Invalid value: ${JSON.stringify(name)}: invalid KMS provider name ${name}, must not contain ':'`,
    );
  } else if (apiVersion === 'v2' && names.has(name)) {
    problems.add(
      `${path}.name`,
      `Invalid value: ${JSON.stringify(name)}: duplicate KMS provider name ${name}, names must be unique`,
    );
  }
  names.add(textOf(name));
  const socket = /^unix:\/\/(\/.+|@.+)$/.exec(textOf(endpoint))?.[1];
  if (endpoint === '')
    problems.add(`${path}.endpoint`, 'Required value: endpoint is a mandatory field for a KMS provider');
  else if (socket === undefined) {
    const scheme = /^([a-z]*):/.exec(textOf(endpoint))?.[1] ?? '';
    problems.add(
      `${path}.endpoint`,
      `Invalid value: ${JSON.stringify(endpoint)}: unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`,
    );
  }
  const cacheSize = cachesize === undefined ? DEFAULT_CACHE_SIZE : Number(cachesize);
  if (cacheSize === 0 || !Number.isInteger(cacheSize)) {
    problems.add(
      `${path}.cachesize`,
      `Invalid value: ${JSON.stringify(cachesize)}: cachesize should be a positive value, or negative to disable`,
    );
  }
  const timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(textOf(timeout));
  if (!(timeoutMs > 0)) {
    problems.add(`${path}.timeout`, `Invalid value: ${JSON.stringify(timeout)}: timeout should be a positive value`);
  }
  return {
    type: 'kms',
    apiVersion: apiVersion === 'v2' ? 'v2' : 'v1',
    name: textOf(name),
    socket: (socket ?? '').replace(/^@/, '\0'),
    cacheSize,
    timeoutMs,
  };
}

/** NaN for a text that is no duration. */
function durationMs(text: string): number {
  try {
    return Number(parseDuration(text)) / 1e6;
  } catch {
    return NaN;
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
