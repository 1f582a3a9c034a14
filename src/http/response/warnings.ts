/** In characters (code points), as kube-apiserver counts them. */
const MOST_IN_ALL = 4096;
const MOST_OF_ONE = 256;

/**
 * The texts of a response's `Warning` headers, each once. As on kube-apiserver: when they are too long together, each is cut
 * to its beginning, and those that come when there is no room even so are dropped. Clients refuse headers that are too long.
 */
export class Warnings {
  #texts: string[] = [];
  #characters = 0;
  /** What was added, before it was cut. */
  readonly #added = new Set<string>();
  #areCut = false;

  get texts(): readonly string[] {
    return this.#texts;
  }

  add(text: string): void {
    if (text === '' || (this.#areCut && this.#characters >= MOST_IN_ALL) || this.#added.has(text)) return;
    this.#added.add(text);
    const fits = this.#characters + lengthOf(text) <= MOST_IN_ALL;
    if (fits || this.#areCut) {
      this.#append(text);
      return;
    }
    this.#areCut = true;
    this.#texts = [];
    this.#characters = 0;
    for (const one of this.#added) this.#append(one);
  }

  #append(text: string): void {
    const shown = this.#areCut ? beginningOf(text) : text;
    this.#characters += lengthOf(shown);
    this.#texts.push(shown);
  }
}

/** More than the most of all is not counted. */
function lengthOf(text: string): number {
  return Array.from(text.slice(0, 2 * MOST_IN_ALL + 2)).length;
}

function beginningOf(text: string): string {
  return text.length <= MOST_OF_ONE
    ? text
    : Array.from(text.slice(0, 2 * MOST_OF_ONE))
        .slice(0, MOST_OF_ONE)
        .join('');
}
