import { performance } from 'node:perf_hooks';
import { qualifiedResource } from '../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { AdmissionMetrics, AdmissionStep, RecordDecision } from './metrics';
import type { AdmissionAttributes, AdmissionPlugin, ObjectAttributes, Operation } from './plugin';
import type { Reinvocation } from './webhooks/reinvocation';

/** The plugins in order, as the two steps that a request takes. Either throws a StatusError to refuse. */
export interface AdmissionChain {
  /** The object as it should go on; undefined for a delete, which is refused at most. */
  readonly mutate: (attributes: AdmissionAttributes) => MaybePromise<KubeObject | undefined>;
  readonly validate: (attributes: AdmissionAttributes) => MaybePromise<void>;
}

type Recorders = Pick<AdmissionMetrics, 'pluginRecorder' | 'stepRecorder'>;

/** The plugins that have a say in one step about one operation on one resource, and where their times go. */
interface Step<Ask> {
  readonly plugins: readonly { readonly ask: Ask; readonly record: RecordDecision }[];
  readonly record: RecordDecision;
}

type Mutation = (attributes: AdmissionAttributes) => MaybePromise<KubeObject | undefined>;

interface Concerned {
  readonly mutating: Step<Mutation>;
  readonly validating: Step<NonNullable<AdmissionPlugin['validate']>>;
}

/** Custom resources come and go: what is remembered is forgotten beyond so many. */
const MAX_REMEMBERED = 4096;

const unrecorded: Recorders = { pluginRecorder: () => () => undefined, stepRecorder: () => () => undefined };

function subjectOf({ group, resource, subresource }: AdmissionAttributes): string {
  const subject = qualifiedResource({ group, resource });
  return subresource === '' ? subject : `${subject}/${subresource}`;
}

/** Joins plugins; the first refusal ends the request. */
export function admissionChain(plugins: readonly AdmissionPlugin[], metrics: Recorders = unrecorded): AdmissionChain {
  const remembered = new Map<string, Concerned>();

  const find = ({ operation }: AdmissionAttributes, subject: string): Concerned => {
    const all = plugins
      .filter(({ operations }) => operations.includes(operation))
      .filter(({ resources }) => resources === undefined || resources.includes(subject));
    const step = <Ask>(type: AdmissionStep, askOf: (plugin: AdmissionPlugin) => Ask | undefined): Step<Ask> => ({
      plugins: all.flatMap((plugin) => {
        const ask = askOf(plugin);
        return ask === undefined ? [] : [{ ask, record: metrics.pluginRecorder(plugin.name, type, operation) }];
      }),
      record: metrics.stepRecorder(type, operation),
    });
    return {
      mutating: step('admit', (plugin) => mutationOf(plugin, operation)),
      validating: step('validate', ({ validate }) => validate),
    };
  };

  const concerned = (attributes: AdmissionAttributes): Concerned => {
    const subject = subjectOf(attributes);
    const key = `${attributes.operation} ${subject}`;
    let found = remembered.get(key);
    if (found === undefined) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      found = find(attributes, subject);
      remembered.set(key, found);
    }
    return found;
  };

  return {
    mutate: (attributes) => {
      let current = attributes;
      const take = (object: KubeObject | undefined): void => {
        if (object !== current.object) current = { ...current, object };
      };
      const ask = (mutate: Mutation): MaybePromise<void> => whenKnown(mutate(current), take);
      const step = (): MaybePromise<void> => timed(concerned(attributes).mutating, ask, attributes.reinvocation);
      const { trace } = attributes;
      const asked = trace === undefined ? step() : trace.within('mutating admission', step);
      return whenKnown(asked, () => current.object);
    },
    validate: (attributes) => {
      const step = (): MaybePromise<void> =>
        timed(concerned(attributes).validating, (validate) => validate(attributes));
      const { trace } = attributes;
      return trace === undefined ? step() : trace.within('validating admission', step);
    },
  };
}

/** What a plugin does in the mutating step. */
function mutationOf({ mutate, check }: AdmissionPlugin, operation: Operation): Mutation | undefined {
  if (mutate !== undefined && operation !== 'DELETE') {
    return (attributes) => (hasObject(attributes) ? mutate(attributes) : undefined);
  }
  if (check === undefined) return undefined;
  return (attributes) => whenKnown(check(attributes), () => attributes.object);
}

function hasObject(attributes: AdmissionAttributes): attributes is ObjectAttributes {
  return attributes.object !== undefined;
}

/**
 * Asks a step's plugins in order, once more if one of them wants that, and writes down how long each, and all of them, took.
 */
function timed<Ask>(
  { plugins, record }: Step<Ask>,
  run: (ask: Ask) => MaybePromise<void>,
  reinvocation?: Reinvocation,
): MaybePromise<void> {
  const start = performance.now();
  let before = start;
  const note = (plugin: { readonly record: RecordDecision }, rejected: boolean): void => {
    const now = performance.now();
    plugin.record(rejected, (now - before) / 1000);
    if (rejected) record(true, (now - start) / 1000);
    before = now;
  };
  const runFrom = (first: number): MaybePromise<void> => {
    for (let index = first; index < plugins.length; index++) {
      const plugin = plugins[index]!;
      let pending: MaybePromise<void>;
      try {
        pending = run(plugin.ask);
      } catch (error) {
        note(plugin, true);
        throw error;
      }
      if (pending instanceof Promise) {
        return pending.then(
          () => {
            note(plugin, false);
            return runFrom(index + 1);
          },
          (error: unknown) => {
            note(plugin, true);
            throw error;
          },
        );
      }
      note(plugin, false);
    }
    if (reinvocation?.isWanted === true && reinvocation.round === 0) {
      reinvocation.round = 1;
      return runFrom(0);
    }
    record(false, (before - start) / 1000);
  };
  return runFrom(0);
}
