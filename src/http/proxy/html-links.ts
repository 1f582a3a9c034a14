/** Attributes that hold a link, by the names of their elements. */
const LINKS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    a: ['href'],
    applet: ['codebase'],
    area: ['href'],
    audio: ['src'],
    base: ['href'],
    blockquote: ['cite'],
    body: ['background'],
    button: ['formaction'],
    command: ['icon'],
    del: ['cite'],
    embed: ['src'],
    form: ['action'],
    frame: ['longdesc', 'src'],
    head: ['profile'],
    html: ['manifest'],
    iframe: ['longdesc', 'src'],
    img: ['longdesc', 'src', 'usemap'],
    input: ['src', 'usemap', 'formaction'],
    ins: ['cite'],
    link: ['href'],
    object: ['classid', 'codebase', 'data', 'usemap'],
    q: ['cite'],
    script: ['src'],
    source: ['src'],
    track: ['src'],
    video: ['poster', 'src'],
  }).map(([element, attributes]) => [element, new Set(attributes)]),
);

/** What stands in these is text up to their end tag. */
const RAW_TEXT: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title', 'xmp']);

/** Of one tag; a longer one passes as it is. */
const MAX_TAG_LENGTH = 64 * 1024;

type State = 'text' | 'opened' | 'tag' | 'declaration' | 'comment' | 'raw text';

/**
 * Changes the links of an HTML document that comes in pieces. Everything else passes as it is, and nothing is kept but a tag
 * that has begun. Each character is looked at once.
 */
export class HtmlLinks {
  #state: State = 'text';
  /** A tag, or what may become the end of a comment or of raw text. */
  #pending = '';
  #quote = '';
  /** The last character of the tag that is no space: quotes count after an equals sign. */
  #last = '';
  #rawElement = '';

  constructor(private readonly change: (link: string) => string) {}

  /** What the piece becomes, as far as that is known. */
  push(text: string): string {
    let out = '';
    for (let at = 0; at < text.length;) {
      const [read, to] = this.#step(text, at);
      out += read;
      at = to;
    }
    return out;
  }

  /** What is left of a document that ends in the middle of something. */
  end(): string {
    const left = this.#pending;
    this.#pending = '';
    this.#state = 'text';
    return left;
  }

  /** Returns what may be passed on, and where to go on. */
  #step(text: string, at: number): readonly [string, number] {
    switch (this.#state) {
      case 'text': {
        const mark = text.indexOf('<', at);
        if (mark < 0) return [text.slice(at), text.length];
        this.#state = 'opened';
        this.#pending = '<';
        return [text.slice(at, mark), mark + 1];
      }
      case 'opened':
        return this.#opened(text, at);
      case 'tag':
        return this.#tag(text, at);
      case 'declaration':
        return this.#upTo('>', text, at);
      case 'comment':
        return this.#upTo('-->', text, at);
      case 'raw text':
        return this.#upTo(`</${this.#rawElement}`, text, at);
    }
  }

  #opened(text: string, at: number): readonly [string, number] {
    const character = text[at]!;
    if (this.#pending === '<' && /[a-z]/i.test(character)) {
      this.#state = 'tag';
      this.#quote = '';
      this.#last = '';
      return ['', at];
    }
    if (this.#pending === '<' && character !== '!') {
      this.#state = /[/?]/.test(character) ? 'declaration' : 'text';
      return this.#release(at);
    }
    this.#pending += character;
    if (this.#pending === '<!--') this.#state = 'comment';
    else if ('<!--'.startsWith(this.#pending)) return ['', at + 1];
    else this.#state = character === '>' ? 'text' : 'declaration';
    return this.#release(at + 1);
  }

  #release(to: number): readonly [string, number] {
    const released = this.#pending;
    this.#pending = '';
    return [released, to];
  }

  #tag(text: string, at: number): readonly [string, number] {
    for (let index = at; index < text.length; index++) {
      const character = text[index]!;
      if (this.#quote !== '') {
        if (character === this.#quote) this.#quote = '';
        this.#last = character;
      } else if (character === '>') {
        return [this.#tagDone(this.#pending + text.slice(at, index + 1)), index + 1];
      } else if ((character === '"' || character === "'") && this.#last === '=') {
        this.#quote = character;
      } else if (!isSpace(character)) {
        this.#last = character;
      }
    }
    this.#pending += text.slice(at);
    if (this.#pending.length <= MAX_TAG_LENGTH) return ['', text.length];
    this.#state = 'text';
    return this.#release(text.length);
  }

  #tagDone(tag: string): string {
    this.#pending = '';
    const name = /^<([^\s/>]+)/.exec(tag)?.[1]?.toLowerCase() ?? '';
    const isRaw = RAW_TEXT.has(name) && !tag.endsWith('/>');
    this.#rawElement = name;
    this.#state = isRaw ? 'raw text' : 'text';
    const links = LINKS.get(name);
    return links === undefined ? tag : changeAttributes(tag, name.length + 1, links, this.change);
  }

  /** Passes everything on up to and with `mark`, in any case; its beginning may be the end of a piece. */
  #upTo(mark: string, text: string, at: number): readonly [string, number] {
    // Of what has been passed on, enough is remembered to know a mark that is cut in two.
    const before = this.#pending;
    const joined = before + text.slice(at);
    const found = joined.toLowerCase().indexOf(mark);
    if (found < 0) {
      this.#pending = joined.slice(Math.max(0, joined.length - mark.length + 1));
      return [joined.slice(0, joined.length - this.#pending.length), text.length];
    }
    const end = found + mark.length;
    this.#pending = '';
    this.#state = this.#state === 'raw text' ? 'declaration' : 'text';
    return [joined.slice(0, end), at + end - before.length];
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r' || character === '\f';
}

function isEndOfName(character: string): boolean {
  return isSpace(character) || character === '=' || character === '/' || character === '>';
}

function changeAttributes(
  tag: string,
  from: number,
  links: ReadonlySet<string>,
  change: (link: string) => string,
): string {
  let out = tag.slice(0, from);
  let at = from;
  const skip = (isSkipped: (character: string) => boolean): string => {
    const start = at;
    while (at < tag.length && isSkipped(tag[at]!)) at++;
    return tag.slice(start, at);
  };
  while (at < tag.length) {
    out += skip((character) => isSpace(character) || character === '/' || character === '>' || character === '=');
    const name = skip((character) => !isEndOfName(character));
    out += name + skip(isSpace);
    if (tag[at] !== '=') continue;
    at++;
    out += `=${skip(isSpace)}`;
    const quote = tag[at] === '"' || tag[at] === "'" ? tag[at]! : '';
    at += quote.length;
    const value = skip((character) => (quote === '' ? !isSpace(character) && character !== '>' : character !== quote));
    at += quote.length;
    out += quote + (links.has(name.toLowerCase()) ? change(value) : value) + quote;
  }
  return out;
}
