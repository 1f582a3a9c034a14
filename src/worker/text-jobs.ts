/** What is asked of the worker thread, and what it answers: structured data that can be sent between threads. */

/** Works on texts that cannot be cut, or whose cost is not in proportion to what an honest client sends. */
export type TextJob =
  /** A YAML text to the JSON text of its first document. */
  | { readonly kind: 'yamlToJson'; readonly bytes: Uint8Array }
  /** The JSON text of plain data to YAML. */
  | { readonly kind: 'jsonToYaml'; readonly bytes: Uint8Array }
  /** What is wrong with a JSON text, and which fields it names twice. */
  | { readonly kind: 'inspectJson'; readonly bytes: Uint8Array };

export interface TextResult {
  readonly bytes?: Uint8Array;
  /** What is wrong with the text, in kube-apiserver's words. */
  readonly problem?: string;
  /** Of YAML: sentences about keys that are named again. Of JSON: the paths of such fields. */
  readonly duplicates?: readonly string[];
}

/** What the thread tells. */
export type ThreadMessage =
  /** `task`: what the kernel calls the thread, where it can be asked how long it has worked. */
  { readonly kind: 'started'; readonly task?: string } | { readonly kind: 'done'; readonly response: TextResult };
