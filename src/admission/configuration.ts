import { dirname, resolve } from 'node:path';
import { parseYaml } from '../api/codec/yaml';

/** Each plugin's own configuration, by the plugin's name. */
export type PluginConfigurations = ReadonlyMap<string, unknown>;

interface PluginEntry {
  readonly name?: string;
  readonly path?: string;
  readonly configuration?: unknown;
}

const KIND = 'AdmissionConfiguration';
const API_VERSIONS = ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1alpha1', 'apiserver.k8s.io/v1alpha1'];
/** Plugins whose configuration could be the whole file, before files had a kind. */
const LEGACY_PLUGINS = ['ImagePolicyWebhook', 'PodNodeSelector'];

function parseFile(path: string, readFile: (path: string) => string): unknown {
  try {
    return parseYaml(readFile(path));
  } catch (error) {
    throw new Error(
      `unable to read admission control configuration from ${JSON.stringify(path)}: ${(error as Error).message}`,
    );
  }
}

/**
 * Reads `--admission-control-config-file` (spec, "Authorization-related configuration shapes"): a list of plugins, each
 * with its configuration or with the path of a file that holds it, relative to this one. Throws what is wrong with it.
 */
export function readPluginConfigurations(path: string, readFile: (path: string) => string): PluginConfigurations {
  const content = parseFile(path, readFile) ?? {};
  if (typeof content !== 'object' || Array.isArray(content)) throw new Error(`${path}: this is no ${KIND}`);
  const file = content as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly plugins?: readonly PluginEntry[];
  };
  if (file.kind === undefined && file.apiVersion === undefined) {
    return new Map(LEGACY_PLUGINS.map((name) => [name, file]));
  }
  if (file.kind !== KIND || !API_VERSIONS.includes(file.apiVersion ?? '')) {
    throw new Error(
      `${path}: no kind ${JSON.stringify(file.kind)} in version ${JSON.stringify(file.apiVersion)} is known`,
    );
  }
  return new Map(
    (file.plugins ?? []).map(({ name, path: own, configuration }, index) => {
      if (!name) throw new Error(`${path}: plugins[${index}].name: Required value`);
      if (configuration !== undefined) return [name, configuration];
      if (!own) throw new Error(`${path}: plugins[${index}]: needs a path or a configuration`);
      return [name, parseFile(resolve(dirname(path), own), readFile)];
    }),
  );
}
