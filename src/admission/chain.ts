import { performance } from 'node:perf_hooks';
import { qualifiedResource } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { AdmissionMetrics, AdmissionStep } from './metrics';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin';

/** The plugins in order, as the two steps that a write takes. */
export interface AdmissionChain {
  readonly mutate: (attributes: AdmissionAttributes) => Promise<KubeObject | undefined>;
  readonly validate: (attributes: AdmissionAttributes) => Promise<void>;
}

type Recorder = Pick<AdmissionMetrics, 'recordPlugin' | 'recordStep'>;
type Mutating = Pick<AdmissionPlugin, 'name'> & Required<Pick<AdmissionPlugin, 'mutate'>>;
type Validating = Pick<AdmissionPlugin, 'name'> & Required<Pick<AdmissionPlugin, 'validate'>>;

/** Those of the plugins that have a say about one operation on one resource. */
interface Concerned {
  readonly mutating: readonly Mutating[];
  readonly validating: readonly Validating[];
}

/** Custom resources come and go: what is remembered is forgotten beyond so many. */
const MAX_REMEMBERED = 4096;

const unrecorded: Recorder = { recordPlugin: () => undefined, recordStep: () => undefined };

function subjectOf({ group, resource, subresource }: AdmissionAttributes): string {
  const subject = qualifiedResource({ group, resource });
  return subresource === '' ? subject : `${subject}/${subresource}`;
}

/** Joins plugins; the first refusal ends the request. */
export function admissionChain(plugins: readonly AdmissionPlugin[], metrics: Recorder = unrecorded): AdmissionChain {
  const remembered = new Map<string, Concerned>();

  const concerned = (attributes: AdmissionAttributes): Concerned => {
    const { operation } = attributes;
    const subject = subjectOf(attributes);
    const key = `${operation} ${subject}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const all = plugins
      .filter(({ operations }) => operations.includes(operation))
      .filter(({ resources }) => resources === undefined || resources.includes(subject));
    const found: Concerned = {
      mutating: all.flatMap(({ name, mutate }) => (mutate === undefined ? [] : [{ name, mutate }])),
      validating: all.flatMap(({ name, validate }) => (validate === undefined ? [] : [{ name, validate }])),
    };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, found);
    return found;
  };

  /** Runs one step's plugins in order and writes down how long each, and all of them, took. */
  const timed = async <Plugin extends { readonly name: string }>(
    step: AdmissionStep,
    { operation }: AdmissionAttributes,
    asked: readonly Plugin[],
    ask: (plugin: Plugin) => Promise<void>,
  ): Promise<void> => {
    const start = performance.now();
    let before = start;
    let current = '';
    try {
      for (const plugin of asked) {
        current = plugin.name;
        await ask(plugin);
        const now = performance.now();
        metrics.recordPlugin(current, step, operation, false, (now - before) / 1000);
        before = now;
      }
    } catch (error) {
      const now = performance.now();
      metrics.recordPlugin(current, step, operation, true, (now - before) / 1000);
      metrics.recordStep(step, operation, true, (now - start) / 1000);
      throw error;
    }
    metrics.recordStep(step, operation, false, (before - start) / 1000);
  };

  return {
    mutate: async (attributes) => {
      let { object } = attributes;
      await timed('admit', attributes, concerned(attributes).mutating, async ({ mutate }) => {
        if (object !== undefined) object = await mutate({ ...attributes, object });
      });
      return object;
    },
    validate: (attributes) =>
      timed('validate', attributes, concerned(attributes).validating, ({ validate }) => validate(attributes)),
  };
}
