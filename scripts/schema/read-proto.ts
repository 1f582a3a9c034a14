/** Reads the .proto files into plain descriptors; `src/api/schema/descriptor.ts` states their shape. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import protobuf from 'protobufjs';
import type { FieldDescriptor, FileDescriptor, MessageDescriptor } from '../../src/api/schema/descriptor';

const SCALARS = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);
/** Messages that describe a wire format of somebody else's and are no API types. */
const NOT_API = new Set(['openapi']);

type OptionScope = 'FileOptions' | 'MessageOptions' | 'FieldOptions';
type DeclaredOptions = Readonly<Record<OptionScope, Set<string>>>;
type Options = Readonly<Record<string, unknown>>;
/** The options of ours among those of something; `where` begins with its name, for what is wrong with them. */
type ReadOptions = (options: Options | undefined, scope: OptionScope, where: string) => Options;

/** A default that is no JSON text, until it is complained of. */
interface NotJson {
  readonly notJson: string;
}

/** Descriptors in path order; each problem begins with the file's path. */
export function readProtoFolder(folder: string): {
  readonly files: readonly FileDescriptor[];
  readonly problems: readonly string[];
} {
  const declared = readDeclaredOptions(path.join(folder, 'sternpost', 'options.proto'));
  const problems: string[] = [];
  const files = protoPaths(folder).map((name) => readFile(folder, name, declared, problems));
  const messages = new Map(files.flatMap((file) => file.messages.map((m) => [`${file.package}.${m.name}`, m])));
  for (const file of files) {
    for (const message of file.messages) checkMessage(file, message, messages, problems);
  }
  return { files, problems };
}

function protoPaths(folder: string): readonly string[] {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_API.has(entry.name))
    .flatMap((entry) => fs.readdirSync(path.join(folder, entry.name)).map((name) => `${entry.name}/${name}`))
    .filter((name) => name.endsWith('.proto') && name !== 'sternpost/options.proto')
    .sort();
}

function parse(file: string): { readonly package: string; readonly namespace: protobuf.NamespaceBase } {
  const parsed = protobuf.parse(fs.readFileSync(file, 'utf8'), new protobuf.Root(), {
    keepCase: true,
    alternateCommentMode: true,
  });
  return {
    package: parsed.package ?? '',
    namespace: parsed.package === undefined ? parsed.root : (parsed.root.lookup(parsed.package) as protobuf.Namespace),
  };
}

/** The option names that options.proto declares for files, messages and fields. */
function readDeclaredOptions(file: string): DeclaredOptions {
  const names: DeclaredOptions = { FileOptions: new Set(), MessageOptions: new Set(), FieldOptions: new Set() };
  for (const { extend = '', name } of parse(file).namespace.nestedArray as unknown as readonly protobuf.Field[]) {
    names[extend.split('.').at(-1) as OptionScope].add(name);
  }
  return names;
}

function readFile(folder: string, name: string, declared: DeclaredOptions, problems: string[]): FileDescriptor {
  const { package: packageName, namespace } = parse(path.join(folder, name));
  const ours: ReadOptions = (options, scope, where) =>
    readOptions(options, declared[scope], (text) => problems.push(`${name}: ${where}${text}`));
  const { group, version } = ours(namespace.options, 'FileOptions', '');
  const messages = (namespace.nestedArray as unknown as readonly protobuf.Type[]).map((message) =>
    readMessage(message, packageName, ours),
  );
  return {
    path: name.slice(0, -'.proto'.length),
    package: packageName,
    ...(group === undefined ? {} : { group: group as string, version: version as string }),
    messages,
  };
}

/** The options in parentheses without them; a name that nobody declared is a problem. */
function readOptions(
  options: Options | undefined,
  declared: ReadonlySet<string>,
  report: (problem: string) => void,
): Options {
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options ?? {})) {
    const custom = /^\((\w+)\)$/.exec(key)?.[1];
    if (custom === undefined) continue;
    if (!declared.has(custom)) report(`option (${custom}) is not declared in sternpost/options.proto`);
    found[custom] = value;
  }
  return found;
}

function readMessage(message: protobuf.Type, packageName: string, ours: ReadOptions): MessageDescriptor {
  const options = ours(message.options, 'MessageOptions', `${message.name}: `);
  return compact({
    name: message.name,
    description: oneLine(message.comment),
    kind: options.kind,
    struct: options.struct,
    jsonForm: options.json_form,
    wrappedList: options.wrapped_list,
    jsonOnly: options.json_only,
    union: words(options.union),
    fields: message.fieldsArray.map((field) => readField(field, message, packageName, ours)),
  }) as unknown as MessageDescriptor;
}

function readField(
  field: protobuf.Field,
  message: protobuf.Type,
  packageName: string,
  ours: ReadOptions,
): FieldDescriptor {
  const options = ours(field.options, 'FieldOptions', `${message.name}.${field.name}: `);
  const jsonName: unknown = field.options?.json_name;
  const type = SCALARS.has(field.type) || field.type.includes('.') ? field.type : `${packageName}.${field.type}`;
  return compact({
    name: jsonName ?? field.name,
    wireName: jsonName === undefined ? undefined : field.name,
    number: field.id,
    type,
    shape: field.map ? 'map' : field.repeated ? 'list' : undefined,
    inline: options.inline,
    pointer: options.pointer,
    required: options.required,
    always: options.always,
    list: options.list,
    keys: words(options.keys),
    map: options.map,
    structure: options.structure,
    patch: options.patch,
    mergeKey: options.merge_key,
    retainKeys: options.retain_keys,
    default: options.default === undefined ? undefined : defaultValue(type, field, options.default),
    enum: words(options.enum),
    description: oneLine(field.comment),
  }) as unknown as FieldDescriptor;
}

/** The bare text is the value of a string field; it is JSON text for any other. Undefined when it does not parse. */
function defaultValue(type: string, field: protobuf.Field, text: unknown): unknown {
  if (type === 'string' && !field.repeated && !field.map) return String(text);
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return { notJson: String(text) } satisfies NotJson;
  }
}

function checkMessage(
  file: FileDescriptor,
  message: MessageDescriptor,
  messages: ReadonlyMap<string, MessageDescriptor>,
  problems: string[],
): void {
  const numbers = new Map<number, string>();
  for (const field of message.fields) {
    const report = (text: string): unknown =>
      problems.push(`${file.path}.proto: ${message.name}.${field.name}: ${text}`);
    if (numbers.has(field.number)) report(`number ${field.number} is taken by ${numbers.get(field.number)}`);
    numbers.set(field.number, field.name);
    const target = messages.get(field.type);
    if (target === undefined && !SCALARS.has(field.type)) report(`no message ${field.type}`);
    if (field.list === 'map' && field.keys === undefined) report('a list of type "map" needs keys');
    for (const key of field.keys ?? []) {
      if (!flatFields(target, messages).has(key)) report(`items have no field ${key}`);
    }
    if (field.mergeKey !== undefined && !flatFields(target, messages).has(field.mergeKey)) {
      report(`items have no field ${field.mergeKey}`);
    }
    if ((field.default as NotJson | undefined)?.notJson !== undefined) report('the default is no JSON text');
  }
}

/** Names of the JSON fields, those of inlined messages among them. */
function flatFields(
  message: MessageDescriptor | undefined,
  messages: ReadonlyMap<string, MessageDescriptor>,
): ReadonlySet<string> {
  const names = (message?.fields ?? []).flatMap((field) =>
    field.inline ? [...flatFields(messages.get(field.type), messages)] : [field.name],
  );
  return new Set(names);
}

function words(list: unknown): readonly string[] | undefined {
  return typeof list === 'string' ? list.split(',') : undefined;
}

function oneLine(comment: string | null): string | undefined {
  return comment ? comment.replace(/\s+/g, ' ').trim() : undefined;
}

function compact(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
