import { StatusError } from '../../api/errors/status-error';
import type { AdmissionAttributes, Operation } from '../../admission/plugin';
import { Reinvocation } from '../../admission/webhooks/reinvocation';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { KubeObject } from '../../api/object';
import { isLarge, type Steps } from '../../api/parts';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import { withoutDuplicateOwners } from './owner-references';
import { kindOf } from './resource-request';

/** The admission of one write: what stays the same between its calls. */
export interface AdmissionHooks {
  mutate(operation: Operation, object: KubeObject, oldObject: KubeObject | undefined): MaybePromise<KubeObject>;
  validate(operation: Operation, object: KubeObject | undefined, oldObject: KubeObject | undefined): MaybePromise<void>;
  /** Both steps for an object that is to go. */
  delete(oldObject: KubeObject): Promise<void>;
  /** Does the write; when it is refused, what plugins have written for it is taken back. */
  guard<T>(write: () => Promise<T>): Promise<T>;
}

/**
 * Whether nothing has been written for certain. After a lost connection to the store it may have been: then plugins keep
 * their books as if it had, and their controllers set them right.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof StatusError && error.status.code < 500;
}

/** As much as etcd takes of an object, unless it is told to take more. */
const MAX_GROWN_BYTES = 1536 * 1024;

/** `options` are the write's, as admission shows them; `name` is empty where the server is yet to make it up. */
export function admissionHooks(
  request: ResourceRequest,
  { admission }: EndpointDependencies,
  options: Readonly<Record<string, unknown>>,
  dryRun: boolean,
): AdmissionHooks {
  if (admission === undefined) {
    return {
      mutate: (_operation, object) => object,
      validate: () => undefined,
      delete: async () => undefined,
      guard: (write) => write(),
    };
  }
  const undos: (() => Promise<void>)[] = [];
  const undo = async (): Promise<void> => {
    // An undo that fails leaves the same as a crash would: work for the plugin's controller.
    await Promise.allSettled(undos.splice(0).map((one) => one()));
  };
  const { context, served, user } = request;
  const { info, trace } = context;
  const { group, version } = served.version;
  const kind = request.subresource?.wireKind ?? kindOf(request);
  const signal = (): AbortSignal => context.signal;
  const timeLeftMs = (): number => context.timeLeftMs;
  const takeSteps = <Result>(steps: Steps<Result>): Promise<Result> => context.takeSteps(steps);
  const warn = (text: string): void => context.warn(text);
  const annotate = (key: string, value: string): void => context.annotate(key, value);
  const onRefused = (one: () => Promise<void>): void => void undos.push(one);
  // Every plugin reads these. Were they spread from what stays the same, V8 would give each its own hidden class (extend.ts).
  const attributes = (
    operation: Operation,
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
  ): AdmissionAttributes => ({
    operation,
    group,
    version,
    resource: served.definition.resource,
    subresource: info.subresource,
    kind,
    namespace: info.namespace,
    name: info.named ? info.name : (object?.metadata.name ?? ''),
    object,
    oldObject,
    options,
    user,
    dryRun,
    signal,
    timeLeftMs,
    takeSteps,
    reinvocation: new Reinvocation(),
    trace,
    warn,
    annotate,
    onRefused,
  });
  return {
    mutate: (operation, object, oldObject) =>
      whenKnown(admission.mutate(attributes(operation, object, oldObject)), (mutated) => {
        const admitted = (): MaybePromise<KubeObject> => withoutDuplicateOwners(mutated ?? object, 'admitted', context);
        // From a few bytes a webhook may make a large object: what remains to be done gives way as for others.
        const hasGrown = mutated !== undefined && mutated !== object && !context.givesWay && isLarge(mutated);
        return hasGrown ? context.beginLarge(MAX_GROWN_BYTES).then(admitted) : admitted();
      }),
    validate: (operation, object, oldObject) => {
      if (object !== undefined && info.subresource === '') {
        served.definition.strategy.warningsOf?.(object).forEach(warn);
      }
      const validated = (): MaybePromise<void> => admission.validate(attributes(operation, object, oldObject));
      // Another try of the same write, after it has lost a race.
      return undos.length > 0 ? undo().then(validated) : validated();
    },
    delete: async (oldObject) => {
      const deletion = attributes('DELETE', undefined, oldObject);
      await admission.mutate(deletion);
      await admission.validate(deletion);
    },
    guard: async (write) => {
      try {
        return await write();
      } catch (error) {
        if (undos.length > 0 && isRefusal(error)) await undo();
        throw error;
      }
    },
  };
}
