import { invalid, type FieldError } from '../../api/errors/field-error';
import { badRequest, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { UserInfo } from '../../api/user';
import type { Attributes, Authorization, Authorizer } from '../../authz/attributes';
import type { Endpoint, ResourceRequest } from './endpoint';
import { kindOf } from './resource-request';
import { reviewResponse, decodePosted } from './review';

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

interface ReviewSpec {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: NonResourceAttributes | null;
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[] | null;
  /** v1beta1's name for the groups. */
  readonly group?: readonly string[] | null;
  readonly extra?: Readonly<Record<string, readonly string[]>> | null;
}

/** SubjectAccessReview: may this user do that? */
export function subjectAccessReview(authorize: Authorizer): Endpoint {
  const problemsOf = (object: KubeObject): readonly FieldError[] => [
    ...attributesProblems(object),
    ...userProblems(object),
    ...metadataProblems(object),
  ];
  return accessReview(authorize, { problemsOf });
}

/** LocalSubjectAccessReview: the same for one namespace, which those may ask who have rights there only. */
export function localSubjectAccessReview(authorize: Authorizer): Endpoint {
  const problemsOf = (object: KubeObject): readonly FieldError[] => {
    const { resourceAttributes, nonResourceAttributes } = specOf(object);
    const { namespace: inMetadata = '', ...metadata } = object.metadata;
    const namespace = resourceAttributes?.namespace ?? '';
    return [
      ...attributesProblems(object),
      ...userProblems(object),
      ...metadataProblems({ ...object, metadata }),
      ...(resourceAttributes != null && namespace !== inMetadata
        ? [invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace')]
        : []),
      ...(nonResourceAttributes != null
        ? [nonResourceProblem(nonResourceAttributes, 'disallowed on this kind of request')]
        : []),
    ];
  };
  // Authorization has looked at the namespace of the path only: rights there must not answer questions about others.
  const check = ({ metadata }: KubeObject, { context: { info } }: ResourceRequest): void => {
    if (metadata.namespace === info.namespace) return;
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${info.namespace}`);
  };
  return accessReview(authorize, { problemsOf, check });
}

/** SelfSubjectAccessReview: may I do that? */
export function selfSubjectAccessReview(authorize: Authorizer): Endpoint {
  const problemsOf = (object: KubeObject): readonly FieldError[] => [
    ...attributesProblems(object),
    ...metadataProblems(object),
  ];
  return accessReview(authorize, { problemsOf, ofSelf: true });
}

interface ReviewRules {
  readonly problemsOf: (object: KubeObject) => readonly FieldError[];
  /** Throws when a valid review may not be asked on this path. */
  readonly check?: (object: KubeObject, request: ResourceRequest) => void;
  /** The question is about who asks it. */
  readonly ofSelf?: boolean;
}

function accessReview(authorize: Authorizer, { problemsOf, check, ofSelf = false }: ReviewRules): Endpoint {
  return async (request, dependencies) => {
    const { served } = request;
    const object = await decodePosted(request, dependencies, { kind: kindOf(request), type: served.type });
    const problems = problemsOf(object);
    if (problems.length > 0) throw invalidReview(problems);
    check?.(object, request);
    const spec = specOf(object);
    const response = await authorize(attributesOf(spec, ofSelf ? request.user : userOf(spec)));
    return { type: 'object', code: 201, object: reviewResponse(object, { status: statusOf(response) }), served };
  };
}

/** The refusal of a review names no kind. */
function invalidReview(problems: readonly FieldError[]): StatusError {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `.authorization.k8s.io "" is invalid: ${list}`, {
    group: 'authorization.k8s.io',
    causes: problems.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

function specOf(object: KubeObject): ReviewSpec {
  return object.spec ?? {};
}

function attributesProblems(object: KubeObject): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = specOf(object);
  if (resourceAttributes != null && nonResourceAttributes != null) {
    return [nonResourceProblem(nonResourceAttributes, 'cannot be specified in combination with resourceAttributes')];
  }
  if (resourceAttributes != null || nonResourceAttributes != null) return [];
  return [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.resourceAttributes',
      message: 'Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified',
    },
  ];
}

function nonResourceProblem({ path = '', verb = '' }: NonResourceAttributes, detail: string): FieldError {
  const value = `authorization.NonResourceAttributes{Path:${JSON.stringify(path)}, Verb:${JSON.stringify(verb)}}`;
  return {
    reason: 'FieldValueInvalid',
    field: 'spec.nonResourceAttributes',
    message: `Invalid value: ${value}: ${detail}`,
  };
}

function userProblems(object: KubeObject): readonly FieldError[] {
  const { user = '', groups, group } = specOf(object);
  return user === '' && (groups ?? group ?? []).length === 0
    ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
    : [];
}

/** A review is not stored: apart from who owns its fields it has no metadata. */
function metadataProblems({ metadata }: KubeObject): readonly FieldError[] {
  const { managedFields: _fields, creationTimestamp: _created, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? [] : [invalid('metadata', rest, 'must be empty')];
}

function userOf({ user = '', uid = '', groups, group, extra }: ReviewSpec): UserInfo {
  return {
    name: user,
    groups: groups ?? group ?? [],
    ...(uid === '' ? {} : { uid }),
    ...(extra == null || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec, user: UserInfo): Attributes {
  const wanted = resourceAttributes ?? {};
  return {
    user,
    resourceRequest: resourceAttributes != null,
    verb: resourceAttributes?.verb ?? nonResourceAttributes?.verb ?? '',
    group: wanted.group ?? '',
    version: wanted.version ?? '',
    resource: wanted.resource ?? '',
    subresource: wanted.subresource ?? '',
    namespace: wanted.namespace ?? '',
    name: wanted.name ?? '',
    path: nonResourceAttributes?.path ?? '',
  };
}

function statusOf({ decision, reason, error }: Authorization): Readonly<Record<string, unknown>> {
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(error === undefined ? {} : { evaluationError: error }),
  };
}
