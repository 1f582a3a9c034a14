import { forbiddenField, invalid, type FieldError } from '../../api/errors/field-error';
import { invalidObject, StatusError } from '../../api/errors/status-error';
import type { Endpoint } from './endpoint';
import { optionsFromQuery } from '../request/query-options';
import { containerOf, kubeletAddress, nodeNameOf } from './pod-container';
import { scopeOf } from './resource-request';

/** The wire's PodLogOptions, v1, as far as they are checked. */
interface LogOptions {
  readonly container?: string;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

const LOG_OPTIONS = { group: '', version: 'v1', kind: 'PodLogOptions' };

/** `GET pods/{name}/log`. A pod that runs nowhere yet has no log; there is no transport to kubelets yet for the others. */
export const podLog: Endpoint = async (request, dependencies) => {
  const { info, signal } = request.context;
  const options: LogOptions = optionsFromQuery(info.query, LOG_OPTIONS, dependencies.catalogue.schema);
  const errors = problemsOf(options);
  if (errors.length > 0) throw invalidObject(LOG_OPTIONS, info.name, errors);
  const { object: pod } = await request.registry.get(scopeOf(request), info.name, {}, signal);
  containerOf(pod, options.container ?? '');
  const node = nodeNameOf(pod);
  if (node === '') return { type: 'empty', code: 204 };
  await kubeletAddress(node, 'pods', request, dependencies);
  throw new StatusError(501, undefined, 'logs of containers are not supported yet');
};

function problemsOf({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return errors;
}
