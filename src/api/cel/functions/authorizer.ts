import { declare, type Cost, type Overload } from '../declarations';
import { PAUSE } from '../run';
import { EvalError, Opaque, type Value } from '../values';

/** A question of an expression to the server's authorizers. */
export interface AuthorizationQuestion {
  /** For whom, where it is not who makes the request: `system:serviceaccount:ns:name`. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly verb: string;
  /** Of a question about something other than a resource. */
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/**
 * The authorizers as an expression asks them. An answer that has to be waited for interrupts the evaluation, which goes on
 * when it is there: each question is asked once.
 */
export class Authorizers {
  readonly #responses = new Map<string, AuthorizationAnswer>();
  #pending: Promise<void> | undefined;

  constructor(
    private readonly ask: (question: AuthorizationQuestion) => AuthorizationAnswer | Promise<AuthorizationAnswer>,
  ) {}

  /** Throws {@link PAUSE} while there is no answer. */
  respond(question: AuthorizationQuestion): AuthorizationAnswer {
    const key = JSON.stringify(question);
    const known = this.#responses.get(key);
    if (known !== undefined) return known;
    const asked = this.ask(question);
    if (!(asked instanceof Promise)) {
      this.#responses.set(key, asked);
      return asked;
    }
    const failed = (error: unknown): AuthorizationAnswer => ({ allowed: false, reason: '', error: String(error) });
    this.#pending = asked.catch(failed).then((response) => {
      this.#responses.set(key, response);
    });
    throw PAUSE;
  }

  /** Resolves when what an evaluation waits for is there; undefined: it waits for nothing. */
  takePending(): Promise<void> | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }
}

const NAMESPACE = 'kubernetes.authorization.';
type Part = 'Authorizer' | 'PathCheck' | 'GroupCheck' | 'ResourceCheck';

/** `authorizer`, and what is made of it on the way to a question. */
export class Check extends Opaque {
  readonly typeName: string;

  constructor(
    readonly part: Part,
    readonly authorizers: Authorizers,
    readonly question: Partial<AuthorizationQuestion>,
  ) {
    super();
    this.typeName = NAMESPACE + part;
  }

  equals(other: Opaque): boolean {
    return this === other;
  }

  with(part: Part, more: Partial<AuthorizationQuestion>): Check {
    return new Check(part, this.authorizers, { ...this.question, ...more });
  }
}

class Decision extends Opaque {
  readonly typeName = `${NAMESPACE}Decision`;

  constructor(readonly response: AuthorizationAnswer) {
    super();
  }

  equals(other: Opaque): boolean {
    return this === other;
  }
}

const ASKING: Cost = { of: () => 350_000 };

/** Kubernetes' authorizer library. */
export function authorizerFunctions(): readonly Overload[] {
  const on = (part: Part): string => NAMESPACE + part;
  const check = (value: Value | undefined): Check => value as Check;
  const response = (value: Value | undefined): AuthorizationAnswer => (value as Decision).response;
  const ask = (value: Value | undefined, verb: Value | undefined): Decision => {
    const { authorizers, question } = check(value);
    const whole = {
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
      ...question,
      verb: verb as string,
    };
    return new Decision(authorizers.respond(whole));
  };
  const field = (name: keyof AuthorizationQuestion) =>
    declare(`${on('ResourceCheck')}.${name}(string): ${on('ResourceCheck')}`, (value, text) =>
      check(value).with('ResourceCheck', { [name]: text as string }),
    );
  return [
    declare(`${on('Authorizer')}.path(string): ${on('PathCheck')}`, (value, path) => {
      if ((path as string) === '') throw new EvalError('path must not be empty');
      return check(value).with('PathCheck', { path: path as string });
    }),
    declare(`${on('Authorizer')}.group(string): ${on('GroupCheck')}`, (value, group) =>
      check(value).with('GroupCheck', { group: group as string }),
    ),
    declare(`${on('Authorizer')}.serviceAccount(string, string): ${on('Authorizer')}`, (value, namespace, name) =>
      check(value).with('Authorizer', { serviceAccount: { namespace: namespace as string, name: name as string } }),
    ),
    declare(`${on('GroupCheck')}.resource(string): ${on('ResourceCheck')}`, (value, resource) =>
      check(value).with('ResourceCheck', { resource: resource as string }),
    ),
    field('subresource'),
    field('namespace'),
    field('name'),
    declare(`${on('PathCheck')}.check(string): ${NAMESPACE}Decision`, ask, ASKING),
    declare(`${on('ResourceCheck')}.check(string): ${NAMESPACE}Decision`, ask, ASKING),
    declare(`${NAMESPACE}Decision.allowed(): bool`, (value) => response(value).allowed),
    declare(`${NAMESPACE}Decision.reason(): string`, (value) => response(value).reason),
    declare(`${NAMESPACE}Decision.errored(): bool`, (value) => response(value).error !== undefined),
    declare(`${NAMESPACE}Decision.error(): string`, (value) => response(value).error ?? ''),
  ];
}
