import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { labelValueProblems, qualifiedNameProblems } from '../api/validation/label-syntax';
import { podSpec, withSpec } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

/** By namespace the labels that its pods' node selectors may have, and the cluster's default. */
export type NodeSelectors = Readonly<Record<string, string>>;

type Labels = Readonly<Record<string, string>>;

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** Reads the plugin's configuration. */
export function parseNodeSelectors(configuration: unknown): NodeSelectors {
  const { podNodeSelectorPluginConfig: selectors } = (configuration ?? {}) as {
    readonly podNodeSelectorPluginConfig?: NodeSelectors | null;
  };
  return selectors ?? {};
}

/** Reads `env=prod,zone=a`. Throws a text that says what is wrong. */
export function parseNodeSelector(text: string): Labels {
  if (text === '') return {};
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const parts = pair.split('=').map((part) => part.trim());
      const [key = '', value = ''] = parts;
      if (parts.length !== 2) throw new Error(`invalid selector: [${pair}]`);
      const problems = [...qualifiedNameProblems(key), ...labelValueProblems(value)];
      if (problems.length > 0) throw new Error(problems.join('; '));
      return [key, value];
    }),
  );
}

function isWithin(labels: Labels, allowed: Labels): boolean {
  return Object.keys(allowed).length === 0 || Object.entries(labels).every(([key, value]) => allowed[key] === value);
}

/**
 * PodNodeSelector: pods go only to the nodes of their namespace: an annotation of the namespace or the configuration
 * says which these are.
 */
export function podNodeSelector(
  selectors: NodeSelectors,
  getNamespace: (name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  const parse = (attributes: AdmissionAttributes, text: string): Labels => {
    try {
      return parseNodeSelector(text);
    } catch (error) {
      throw refuse(attributes, (error as Error).message);
    }
  };
  const ofNamespace = async (attributes: AdmissionAttributes): Promise<Labels> => {
    const found = await getNamespace(attributes.namespace);
    return parse(attributes, found?.metadata.annotations?.[ANNOTATION] ?? selectors[CLUSTER_DEFAULT] ?? '');
  };
  const checkConflict = (attributes: AdmissionAttributes, wanted: Labels, own: Labels): void => {
    if (Object.entries(wanted).every(([key, value]) => !Object.hasOwn(own, key) || own[key] === value)) return;
    throw refuse(attributes, 'pod node label selector conflicts with its namespace node label selector');
  };
  return {
    name: 'PodNodeSelector',
    operations: ['CREATE'],
    resources: ['pods'],
    mutate: async (attributes) => {
      const wanted = await ofNamespace(attributes);
      const own = podSpec(attributes.object).nodeSelector ?? {};
      checkConflict(attributes, wanted, own);
      if (Object.keys(wanted).length === 0) return attributes.object;
      return withSpec(attributes.object, { nodeSelector: { ...wanted, ...own } });
    },
    validate: async (attributes) => {
      if (attributes.object === undefined) return;
      const own = podSpec(attributes.object).nodeSelector ?? {};
      checkConflict(attributes, await ofNamespace(attributes), own);
      const { namespace } = attributes;
      const allowed = Object.hasOwn(selectors, namespace) ? (selectors[namespace] ?? '') : '';
      if (isWithin(own, parse(attributes, allowed))) return;
      throw refuse(attributes, 'pod node label selector labels conflict with its namespace whitelist');
    },
  };
}
