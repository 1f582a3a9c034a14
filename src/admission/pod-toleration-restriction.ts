import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { isBestEffort } from '../api/quota/pod-resources';
import { podSpec, withSpec, type Toleration } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';
import { areAllowed, mergeTolerations } from './tolerations';
import { takeTurns } from './webhooks/large-work';

/** What holds for namespaces that say nothing themselves. */
export interface TolerationDefaults {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

/** Reads the plugin's configuration. */
export function parseTolerationDefaults(configuration: unknown): TolerationDefaults {
  const given = (configuration ?? {}) as Partial<TolerationDefaults>;
  return { default: given.default ?? [], whitelist: given.whitelist ?? [] };
}

const DEFAULT_ANNOTATION = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const WHITELIST_ANNOTATION = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const MEMORY_PRESSURE = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

/**
 * PodTolerationRestriction: a namespace's pods get its default tolerations and have no others than its whitelist allows.
 * Pods that have said what memory they need stay on nodes whose memory runs short.
 */
export function podTolerationRestriction(
  defaults: TolerationDefaults,
  getNamespace: (name: string) => MaybePromise<KubeObject | undefined>,
): AdmissionPlugin {
  const ofNamespace = async (
    attributes: AdmissionAttributes,
    annotation: string,
    otherwise: readonly Toleration[],
  ): Promise<readonly Toleration[]> => {
    const text = (await getNamespace(attributes.namespace))?.metadata.annotations?.[annotation];
    if (text === undefined) return otherwise;
    if (text === '') return [];
    try {
      return (JSON.parse(text) ?? []) as readonly Toleration[];
    } catch {
      throw refuse(attributes, `the annotation ${annotation} of namespace ${attributes.namespace} is not valid JSON`);
    }
  };
  const check = async (attributes: AdmissionAttributes, tolerations: readonly Toleration[]): Promise<void> => {
    if (tolerations.length === 0) return;
    const whitelist = await ofNamespace(attributes, WHITELIST_ANNOTATION, defaults.whitelist);
    if (areAllowed(tolerations, whitelist)) return;
    throw refuse(
      attributes,
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    );
  };
  return {
    name: 'PodTolerationRestriction',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: async (attributes) => {
      const { object, operation } = attributes;
      const spec = podSpec(object);
      let tolerations = spec.tolerations ?? [];
      if (operation === 'CREATE') {
        tolerations = mergeTolerations(
          tolerations,
          await ofNamespace(attributes, DEFAULT_ANNOTATION, defaults.default),
        );
      }
      const asksForNothing = await takeTurns(attributes, isBestEffort(spec), spec);
      if (!asksForNothing) tolerations = mergeTolerations(tolerations, [MEMORY_PRESSURE]);
      await check(attributes, tolerations);
      return tolerations.length === 0 ? object : withSpec(object, { tolerations });
    },
    validate: async (attributes) => {
      if (attributes.object !== undefined) await check(attributes, podSpec(attributes.object).tolerations ?? []);
    },
  };
}
