import type { Failure } from './decide';
import type { Policy } from './policy';

/** A failure of a policy with one of its bindings. */
export interface Finding extends Failure {
  /** The binding cannot be followed at all: that refuses, whatever it says is to be done about failures. */
  readonly isBroken?: boolean;
  readonly policy: Policy;
  readonly binding: { readonly name: string; readonly actions: ReadonlySet<string> };
}

/** Characters that policies may say about one request: each parameter may fail, and users may make as many as they like. */
const MOST_CHARACTERS = 256 * 1024;
/** What a finding takes beside its message. */
const FINDING_CHARACTERS = 128;

/** What all policies find wrong with one request, as far as it can be told. */
export class Findings {
  readonly all: Finding[] = [];
  /** Of the audit event: bindings and parameters each may have a value. */
  readonly annotations = new Map<string, Set<string>>();
  #denial: Finding | undefined;
  #left = MOST_CHARACTERS;

  /** The first that refuses the request; it is known however much was found before. */
  get denial(): Finding | undefined {
    return this.#denial;
  }

  add(finding: Finding): void {
    if (finding.binding.actions.has('Deny') || finding.isBroken === true) this.#denial ??= finding;
    if (this.#spend(finding.message.length + FINDING_CHARACTERS)) this.all.push(finding);
  }

  annotate(key: string, value: string): void {
    const values = this.annotations.get(key) ?? new Set();
    if (values.has(value) || !this.#spend(key.length + value.length)) return;
    this.annotations.set(key, values.add(value));
  }

  #spend(characters: number): boolean {
    this.#left -= characters;
    return this.#left >= 0;
  }
}
