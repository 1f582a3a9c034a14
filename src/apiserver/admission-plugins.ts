import type { Authorize } from '../admission/authorize';
import type { PluginConfigurations } from '../admission/configuration';
import type { AdmissionPlugin } from '../admission/plugin';
import { PLUGINS, type PluginName, type PluginOptions, type PluginSetup } from '../admission/plugin-table';
import type { Authorizer } from '../authz/attributes';
import type { Logger } from '../observability/logger';
import { imagePolicyPlugin } from './image-policy-backend';

/** What the flags say about admission. */
export interface AdmissionOptions extends PluginOptions {
  /** Those that are on, in order. */
  readonly plugins: readonly PluginName[];
  readonly configurations: PluginConfigurations;
  /** Paths in the configurations are relative to this file. */
  readonly configurationFile: string;
}

/** Without flags. */
export const DEFAULT_ADMISSION: AdmissionOptions = {
  plugins: PLUGINS.filter(({ on }) => on).map(({ name }) => name),
  configurations: new Map(),
  configurationFile: '',
  notReadySeconds: 300,
  unreachableSeconds: 300,
  boundTokens: true,
};

/** What plugins read, ask and write. */
export interface AdmissionDependencies extends Pick<
  PluginSetup,
  'reader' | 'quotas' | 'findResource' | 'versions' | 'policyMetrics' | 'createNamespace' | 'webhooks'
> {
  readonly authorize: Authorizer;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

function askAuthorizer(authorize: Authorizer): Authorize {
  return async (question) => {
    const { decision, reason } = await authorize({ ...question, resourceRequest: true, path: '' });
    return { allowed: decision === 'allow', reason };
  };
}

/** The plugins that are on, in order. Throws when the configuration of one of them is wrong. */
export function admissionPlugins(
  options: AdmissionOptions,
  { authorize, requestTimeoutMs, logger, ...dependencies }: AdmissionDependencies,
): readonly AdmissionPlugin[] {
  const { reader } = dependencies;
  const setup: PluginSetup = {
    ...dependencies,
    authorizer: authorize,
    authorize: askAuthorizer(authorize),
    getNamespace: (name) => reader.getLive('namespaces', name),
    getPod: (namespace, name) => reader.getLive('pods', namespace, name),
    imagePolicy: (configuration) =>
      imagePolicyPlugin(configuration, options.configurationFile, requestTimeoutMs, logger),
    configuration: (plugin) => options.configurations.get(plugin),
    options,
  };
  const chosen = new Set<string>(options.plugins);
  return PLUGINS.filter(({ name }) => chosen.has(name)).flatMap(({ name, create }) => {
    try {
      return create(setup) ?? [];
    } catch (error) {
      throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
}
