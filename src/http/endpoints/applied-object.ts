import { readYaml, YamlSyntaxError } from '../../api/codec/yaml';
import { badRequest } from '../../api/errors/status-error';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { apiVersionOf, type KubeObject } from '../../api/object';
import { reportStrict } from '../request/decode';
import type { ResourceRequest } from './endpoint';
import type { LargeBodies, TextReading } from '../request/large-bodies';
import type { WriteOptions } from '../request/write-options';
import { kindOf } from './resource-request';

/**
 * The partial object of a server-side apply, as it was sent: nothing is defaulted, for what is not there is not owned.
 * Throws a 400 for what is no object of the path's kind and version.
 */
export function readAppliedObject(
  request: ResourceRequest,
  body: Buffer,
  options: WriteOptions,
  bodies: LargeBodies,
): MaybePromise<KubeObject> {
  const reading = bodies.isLarge(body, 'yaml') ? readLarge(request, body, options, bodies) : read(body);
  return whenKnown(reading, (known) => appliedObject(request, known, options));
}

async function readLarge(
  { context }: ResourceRequest,
  body: Buffer,
  { fieldValidation }: WriteOptions,
  bodies: LargeBodies,
): Promise<TextReading> {
  await bodies.begin(context, body);
  try {
    return await bodies.readYaml(context, body, fieldValidation !== 'Ignore');
  } catch (error) {
    throw unreadable(error);
  }
}

function read(body: Buffer): TextReading {
  try {
    return readYaml(body.toString('utf8'));
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof YamlSyntaxError)) return error;
  return badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
}

function appliedObject(
  request: ResourceRequest,
  { value, duplicates }: TextReading,
  options: WriteOptions,
): KubeObject {
  const parsed = objectOf(value);
  const expected = kindOf(request);
  const expectedVersion = apiVersionOf(expected.group, expected.version);
  const sentVersion = typeof parsed.apiVersion === 'string' ? parsed.apiVersion : '';
  if (sentVersion !== expectedVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${sentVersion}, expected: ${expectedVersion}`,
    );
  }
  if (parsed.kind !== expected.kind) {
    const kind = typeof parsed.kind === 'string' ? parsed.kind : '';
    throw badRequest(`no corresponding type for ${sentVersion}, Kind=${kind}, expected ${expected.kind}`);
  }
  if (options.fieldValidation !== 'Ignore') {
    reportStrict(request.context, options.fieldValidation, duplicates, () =>
      badRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicates.join(', ')}`),
    );
  }
  const { metadata } = parsed;
  if (metadata !== undefined && metadata !== null && (typeof metadata !== 'object' || Array.isArray(metadata))) {
    throw badRequest('the metadata of the applied object is no map');
  }
  // A document may have as many fields as it likes: to copy them takes long.
  return (metadata ?? undefined) === undefined ? { ...parsed, metadata: {} } : (parsed as unknown as KubeObject);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const object = value ?? {};
  if (typeof object !== 'object' || Array.isArray(object)) {
    throw badRequest('error decoding YAML: the document is no map');
  }
  return object as Readonly<Record<string, unknown>>;
}
