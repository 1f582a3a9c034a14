import { FORMATS } from '../../custom/formats';
import { labelValueProblems, qualifiedNameProblems } from '../../validation/label-syntax';
import { dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems } from '../../validation/names';
import { declare, OF_TEXT, type Cost, type Overload } from '../declarations';
import { Items, NONE, Opaque, Optional } from '../values';

type Problems = (text: string) => readonly string[];

class NamedFormat extends Opaque {
  readonly typeName = 'kubernetes.NamedFormat';

  constructor(
    readonly name: string,
    readonly problems: Problems,
  ) {
    super();
  }

  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && this.name === other.name;
  }
}

function fits(name: string, problem: string): Problems {
  const check = FORMATS.get(name);
  return (text) => (check?.(text) === false ? [problem] : []);
}

/** Of names that something is added to: they may end in a dash. */
function prefix(problems: Problems): Problems {
  return (text) => problems(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
}

const FORMATS_BY_NAME: ReadonlyMap<string, Problems> = new Map<string, Problems>([
  ['dns1123Label', dns1123LabelProblems],
  ['dns1123Subdomain', dns1123SubdomainProblems],
  ['dns1035Label', dns1035LabelProblems],
  ['qualifiedName', qualifiedNameProblems],
  ['dns1123LabelPrefix', prefix(dns1123LabelProblems)],
  ['dns1123SubdomainPrefix', prefix(dns1123SubdomainProblems)],
  ['dns1035LabelPrefix', prefix(dns1035LabelProblems)],
  ['labelValue', labelValueProblems],
  ['uri', fits('uri', 'invalid URI')],
  ['uuid', fits('uuid', 'does not match the UUID format')],
  ['byte', fits('byte', 'invalid base64')],
  ['date', fits('date', 'invalid date')],
  ['datetime', fits('datetime', 'invalid datetime')],
]);

const OF_VALIDATION: Cost = { of: ([, size = 0]) => OF_TEXT.of([size]) };

/** Kubernetes' library of named formats. */
export function formatFunctions(): readonly Overload[] {
  const formats = new Map([...FORMATS_BY_NAME].map(([name, problems]) => [name, new NamedFormat(name, problems)]));
  return [
    ...[...formats].map(([name, format]) => declare(`format.${name}(): kubernetes.NamedFormat`, () => format)),
    declare('format.named(string): optional<kubernetes.NamedFormat>', (name) => {
      const format = formats.get(name as string);
      return format === undefined ? NONE : new Optional(format);
    }),
    declare(
      'kubernetes.NamedFormat.validate(string): optional<list<string>>',
      (format, text) => {
        const problems = (format as NamedFormat).problems(text as string);
        return problems.length === 0 ? NONE : new Optional(new Items(problems));
      },
      OF_VALIDATION,
    ),
  ];
}
